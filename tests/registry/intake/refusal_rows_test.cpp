// The sources and the table of refusals (lib/wire/refusals.hpp) agree where the compiler does not check it.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "lib/wire/refusals.hpp"

using namespace wheelyard;

namespace {

const std::string tree = std::string(WHEELYARD_TEST_DATA) + "/../";

std::string read(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// The first group of every match in the sources below `folder`.
std::set<std::string> collect(const std::string& folder, const std::regex& code) {
    const std::regex log_call("(?:log_(?:info|warn|error)\\(|fail_call\\(call,)\\s*\"[a-z_.]+\"");
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree + folder)) {
        const auto& path = entry.path();
        const bool is_source = path.extension() == ".cpp" || path.extension() == ".hpp";
        if (!is_source || path.parent_path().filename() == "commands" || path.stem() == "refusals") continue;
        const std::string text = std::regex_replace(read(path), log_call, "");
        for (std::sregex_iterator match(text.begin(), text.end(), code), end; match != end; ++match)
            found.insert((*match)[1]);
    }
    return found;
}

bool has_row(const std::string& code) {
    return std::any_of(std::begin(wire::refused::rows), std::end(wire::refused::rows),
                       [&](const wire::RefusalRow& row) { return row.code == code; });
}

}  // namespace

TEST_CASE("every code of an upload, a token, a change or a task that the registry has is in the table") {
    const auto codes = collect("registry", std::regex("\"((?:upload|auth|lifecycle|task)\\.[a-z_]+)\""));
    CHECK(codes.size() > 60);
    for (const std::string& code : codes) {
        // Codes of commands, what the server answers a command that has gone, and a column.
        if (code == "lifecycle.answer" || code == "lifecycle.stopped" || code == "task.outcome_json")
            continue;
        CAPTURE(code);
        CHECK(has_row(code));
    }
}

TEST_CASE("every error that a request caused has a code of the table") {
    const std::regex of_request(
        "fail_as\\(\\s*base::ErrorKind::(?:invalid|refused|missing|conflict|too_large|exhausted),"
        "\\s*base::Recovery::[a-z]+,\\s*\\{\\s*\"([a-z_]+\\.[a-z_]+)\"");
    for (const std::string& code : collect("registry", of_request)) {
        if (code == "multipart.boundary") continue;                        // the answer has upload.bad_form
        if (code == "jwt.key" || code.starts_with("provider.")) continue;  // login.refused or login.provider
        CAPTURE(code);
        CHECK(has_row(code));
    }
}

TEST_CASE("only the table has a status beside a code") {
    const std::regex beside("\\b[45][0-9][0-9],\\s*\"([a-z_]+\\.[a-z_]+)\"");
    for (const std::string& code : collect("registry", beside)) {
        CAPTURE(code);  // which statuses a code has is checked by the compiler
        CHECK(std::count_if(std::begin(wire::refused::rows), std::end(wire::refused::rows),
                            [&](const wire::RefusalRow& row) { return row.code == code; }) > 1);
    }
}

TEST_CASE("every row of the table is raised somewhere") {
    const std::regex quoted("\"([a-z_]+\\.[a-z_]+)\"");
    std::set<std::string> raised = collect("registry", quoted);
    raised.merge(collect("lib", quoted));
    for (const wire::RefusalRow& row : wire::refused::rows) {
        CAPTURE(row.code);
        CHECK(raised.contains(std::string(row.code)));
    }
}
