// Reads names and specifiers from requirements files.
#include <string>
#include <utility>

#include "indexer/avail_wheels/query/lock_answer.hpp"
#include "indexer/avail_wheels/query/wanted.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/toml.hpp"

namespace wheelyard::avail_wheels {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t max_requirements_bytes = 4 * base::mib;
constexpr std::size_t max_requirements = 20'000;
constexpr int max_requirements_depth = 16;  // files that include files with -r

struct LogicalLine {
    std::string text;
    std::size_t number = 0;  // of its first physical line
};

// pip's rules: a trailing `\` continues the line, and `#` at the start or after a space begins a comment.
std::vector<LogicalLine> logical_lines(std::string_view text) {
    std::vector<LogicalLine> lines;
    bool joins = false;
    std::size_t number = 0;
    for (std::string_view line : base::split_lines(text)) {
        ++number;
        const bool joins_next = line.ends_with('\\');
        if (joins_next) line.remove_suffix(1);
        if (!joins) lines.push_back({{}, number});
        lines.back().text += line;
        joins = joins_next;
    }
    for (auto& line : lines) {
        if (line.text.starts_with('#')) line.text.clear();
        for (const auto* comment : {" #", "\t#"})
            line.text.resize(std::min(line.text.size(), line.text.find(comment)));
        line.text = std::string(base::trim(line.text));
    }
    return lines;
}

// The file of "-r other.txt", "--requirement other.txt" or "--requirement=other.txt".
std::optional<std::string> nested_file(std::string_view line) {
    for (const std::string_view option : {"--requirement", "-r"}) {
        if (!line.starts_with(option)) continue;
        std::string_view rest = line.substr(option.size());
        if (rest.starts_with('=')) rest.remove_prefix(1);
        return std::string(base::trim(rest));
    }
    return std::nullopt;
}

// A local path or a URL does not name a project of an index.
bool is_location(std::string_view line) {
    const auto name_end = line.find_first_of(" @;<>=!~[");
    const auto first = line.substr(0, name_end);
    return first.find('/') != std::string_view::npos || first == "." || first.ends_with(".whl");
}

class RequirementsReader {
  public:
    base::Status read(const fs::path& file, int depth) {
        if (depth > max_requirements_depth) {
            return base::fail("wanted.nesting", "Requirements files are nested too deeply", file.native(),
                              "look for a file that includes itself with -r");
        }
        WHEELYARD_ASSIGN(const auto bytes, base::read_file(file, max_requirements_bytes));
        constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";  // as Windows editors write it
        std::string_view text = bytes;
        if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
        if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
            return base::fail("wanted.encoding", "This file is UTF-16, as PowerShell writes it",
                              file.native(), "save it as UTF-8: iconv -f UTF-16 -t UTF-8");
        }
        const std::string name = file.filename().native();
        if (name == "pyproject.toml") return read_pyproject(text, file);
        if (simple::is_lock(file)) return take_lock(text, file);
        for (const auto& line : logical_lines(text)) {
            if (line.text.empty()) continue;
            if (const auto nested = nested_file(line.text)) {
                WHEELYARD_TRY(read(file.parent_path() / *nested, depth + 1));
            } else if (!line.text.starts_with('-') && !is_location(line.text)) {
                // Options of one requirement (--hash=…) follow it.
                const auto requirement =
                    base::trim(std::string_view(line.text).substr(0, line.text.find(" --")));
                WHEELYARD_TRY(add(requirement, file.native() + ":" + std::to_string(line.number)));
            }
        }
        return {};
    }
    std::vector<Wanted> take() { return std::move(wanted_); }

  private:
    base::Status read_pyproject(std::string_view text, const fs::path& file) {
        WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, file));
        for (const auto& dependency :
             document.root().table_or_empty("project").strings_or("dependencies", {})) {
            WHEELYARD_TRY(add(dependency, file.native()));
        }
        return {};  // no finish(): other keys belong to other tools
    }

    base::Status take_lock(std::string_view text, const fs::path& file) {
        WHEELYARD_ASSIGN(const Lock lock, simple::parse_lock(text, file));
        for (const LockedPackage& package : lock.packages)
            wanted_.push_back(wanted_of(package, lock));
        return {};
    }

    base::Status add(std::string_view requirement, const std::string& place) {
        if (wanted_.size() >= max_requirements) {
            return base::fail("wanted.too_many", "Too many requirements", place);
        }
        auto wanted = parse_wanted(requirement);
        if (!wanted) {
            wanted.error().sentence = place + ": " + wanted.error().sentence;
            return tl::unexpected(std::move(wanted.error()));
        }
        wanted_.push_back(std::move(*wanted));
        return {};
    }

    std::vector<Wanted> wanted_;
};

}  // namespace

base::Result<std::vector<Wanted>> read_requirements(const fs::path& file) {
    RequirementsReader reader;
    WHEELYARD_TRY(reader.read(file, 0));
    return reader.take();
}

}  // namespace wheelyard::avail_wheels
