// Compares with golden files and generated documents, or writes them.
#include "tests/support/golden.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::test_support {

namespace {

constexpr std::uint64_t max_golden_bytes = 1 << 20;
constexpr std::string_view advice = "\n  WHEELYARD_UPDATE_GOLDEN=1 with this test writes it";

bool is_update() {
    const char* update = std::getenv("WHEELYARD_UPDATE_GOLDEN");
    return update != nullptr && std::string_view(update) == "1";
}

std::filesystem::path page_file(std::string_view page) {
    return std::filesystem::path(WHEELYARD_TEST_DATA) / ".." / "docs" / page;
}

std::string first_difference(std::string_view expected, std::string_view actual) {
    const auto want = base::split(expected, '\n');
    const auto have = base::split(actual, '\n');
    for (std::size_t i = 0; i < std::max(want.size(), have.size()); ++i) {
        const std::string_view wanted = i < want.size() ? want[i] : "(end)";
        const std::string_view got = i < have.size() ? have[i] : "(end)";
        if (wanted == got) continue;
        return "line " + std::to_string(i + 1) + "\n  expected: " + std::string(wanted) +
               "\n  actual:   " + std::string(got) + std::string(advice);
    }
    return {};
}

std::string write(const std::filesystem::path& file, std::string_view text) {
    std::filesystem::create_directories(file.parent_path());
    const auto written = base::replace_file(file, text);
    return written ? std::string() : written.error().text();
}

std::string difference(const std::filesystem::path& file, std::string_view actual) {
    if (is_update()) return write(file, actual);
    const auto expected = base::read_file(file, max_golden_bytes);
    if (!expected) return expected.error().text() + std::string(advice);
    return first_difference(*expected, actual);
}

}  // namespace

std::string golden_difference(std::string_view name, std::string_view actual) {
    return difference(std::filesystem::path(WHEELYARD_TEST_DATA) / "golden" / name, actual);
}

std::string golden_changes(std::string_view name, std::string_view base, std::string_view base_text,
                           std::string_view actual) {
    const auto folder = base::TempDir::make("golden");
    if (!folder) return folder.error().text();
    const auto older = folder->path() / "older", newer = folder->path() / "newer";
    for (const auto& [file, text] : {std::pair(older, base_text), std::pair(newer, actual)}) {
        if (const auto written = base::replace_file(file, text); !written) return written.error().text();
    }
    base::Command command;
    command.argv = {"diff",
                    "-U0",
                    R"(--show-function-line=^begin \|^==> )",
                    "--label=" + std::string(base),
                    "--label=" + std::string(name),
                    older.string(),
                    newer.string()};
    const auto compared = base::run_command(command);
    if (!compared) return compared.error().text();
    if (compared->exit_code > 1) return compared->err;
    return golden_difference(std::string(name) + ".diff", compared->out);
}

std::string page_difference(std::string_view page, std::string_view actual) {
    return difference(page_file(page), actual);
}

std::string part_difference(std::string_view page, std::string_view part, std::string_view actual) {
    const std::string begin_mark = "<!-- " + std::string(part) + ": WHEELYARD_UPDATE_GOLDEN=1 ";
    const std::string end_mark = "<!-- end of " + std::string(part) + " -->\n";
    auto text = base::read_file(page_file(page), max_golden_bytes);
    if (!text) return text.error().text();
    const auto mark = text->find(begin_mark);
    const auto end = text->find(end_mark);
    const auto newline = text->find('\n', mark);
    if (mark == std::string::npos || end == std::string::npos || newline > end)
        return "docs/" + std::string(page) + " has no lines `" + begin_mark + "… -->` and `" + end_mark + "`";
    const auto begin = newline + 1;
    if (!is_update()) return first_difference(std::string_view(*text).substr(begin, end - begin), actual);
    text->replace(begin, end - begin, actual);
    return write(page_file(page), *text);
}

std::string keys_difference(std::string_view page, std::string_view part, std::string_view keys) {
    const auto text = base::read_file(page_file(page), max_golden_bytes);
    if (!text) return text.error().text();
    // A key of another table of the page may have the same name.
    const auto mark = std::min(text->find("<!-- " + std::string(part) + ": "), text->size());
    std::string lines = "| key | type | default | meaning |\n|---|---|---|---|\n", without;
    for (const auto line : base::split(keys, '\n')) {
        if (line.empty()) continue;
        const std::string key(line.substr(0, line.find(" | ") + 3));
        const auto at = text->find("\n" + key, mark);
        const std::string row =
            at == std::string::npos ? "" : text->substr(at + 1, text->find('\n', at + 1) - at - 1);
        const auto cells = base::split(row, '|');
        const std::string meaning(cells.size() < 6 ? "" : base::trim(cells[4]));
        lines += std::string(line) + " " + meaning + " |\n";
        if (meaning.empty())
            without += "docs/" + std::string(page) + " does not say what this key means: " + key + "\n";
    }
    return part_difference(page, part, lines) + without;
}

}  // namespace wheelyard::test_support
