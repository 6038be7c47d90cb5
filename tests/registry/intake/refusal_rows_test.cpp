// docs/reference/upload.md names every code that an upload may be refused with, and none that does not exist.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

const std::string tree = std::string(WHEELYARD_TEST_DATA) + "/../";

std::string read(const std::filesystem::path& file) {
    std::ifstream in(file);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

// Adds the first group of every match.
void collect(const std::string& text, const std::regex& code, std::set<std::string>& into) {
    for (std::sregex_iterator match(text.begin(), text.end(), code), end; match != end; ++match)
        into.insert((*match)[1]);
}

}  // namespace

TEST_CASE("the document and the code name the same refusals") {
    const std::regex log_call("log_(?:info|warn|error)\\(\\s*\"[a-z_.]+\"");
    const std::string code_of_upload = "((?:upload|auth)\\.[a-z_]+)";
    const std::regex quoted("\"" + code_of_upload + "\"");
    const std::regex marked("`" + code_of_upload + "`");
    std::set<std::string> in_code;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree + "registry")) {
        if (entry.path().extension() != ".cpp") continue;
        collect(std::regex_replace(read(entry.path()), log_call, ""), quoted, in_code);
    }
    std::set<std::string> in_document;
    collect(read(tree + "docs/reference/upload.md") + read(tree + "docs/reference/api.md"), marked,
            in_document);
    CHECK(in_code.size() > 30);
    for (const std::string& code : in_code) {
        CAPTURE(code);
        CHECK(in_document.contains(code));
    }
    for (const std::string& code : in_document) {
        CAPTURE(code);
        CHECK(in_code.contains(code));
    }
}

TEST_CASE("every code that the server answers with is in a document") {
    // With a status where it is found, or with a sentence in the rules for changes of files.
    const std::regex with_status(
        "\\b(?:refuse|make_problem|reply_problem)\\s*\\(\\{?\\s*[45][0-9][0-9],\\s*\"([a-z_]+\\.[a-z_]+)\"");
    const std::regex of_change("\"(lifecycle\\.[a-z_]+)\",\\s*\"");
    std::string documents;
    for (const auto& entry : std::filesystem::directory_iterator(tree + "docs/reference"))
        documents += read(entry.path());
    std::set<std::string> codes;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(tree + "registry")) {
        const std::string text = read(entry.path());
        collect(text, with_status, codes);
        if (entry.path().parent_path().filename() != "commands") collect(text, of_change, codes);
    }
    for (const char* of_commands : {"lifecycle.answer", "lifecycle.no_such_index"})
        codes.erase(of_commands);
    CHECK(codes.size() > 110);
    for (const std::string& code : codes) {
        CAPTURE(code);
        CHECK(documents.find("`" + code + "`") != std::string::npos);
    }
}
