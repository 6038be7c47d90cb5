// Reads names and specifiers from requirements files.
#include <algorithm>
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

// pip's rule: ${NAME} in capitals, where it is set and not empty.
std::string with_environment(std::string_view text, const EnvironmentMap& environment) {
    std::string expanded;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::size_t end =
            text.substr(at).starts_with("${") ? text.find('}', at) : std::string_view::npos;
        const std::string name(end == std::string_view::npos ? "" : text.substr(at + 2, end - at - 2));
        const bool is_name = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
            return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        });
        const auto value = is_name ? environment.find(name) : environment.end();
        if (value == environment.end() || value->second.empty()) {
            expanded += text[at];
            continue;
        }
        expanded += value->second;
        at = end;
    }
    return expanded;
}

// pip's rules: a trailing `\` continues the line, and `#` at the start or after a space begins a comment.
std::vector<LogicalLine> logical_lines(std::string_view text, const EnvironmentMap& environment) {
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
        line.text = with_environment(base::trim(line.text), environment);
    }
    return lines;
}

// The file of "-r other.txt", "--requirement other.txt" or "--requirement=other.txt".
std::optional<std::string> nested_file(std::string_view line, std::string_view long_option,
                                       std::string_view short_option) {
    for (const std::string_view option : {long_option, short_option}) {
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

// Those of "--hash=sha256:ab… --hash sha256:cd…". Empty where one is of another algorithm, which is not known
// here.
std::vector<std::string> allowed_sha256s(std::string_view options) {
    constexpr std::string_view option = "--hash", algorithm = "sha256:";
    std::vector<std::string> allowed;
    for (auto at = options.find(option); at != std::string_view::npos; at = options.find(option)) {
        options.remove_prefix(at + option.size());
        const auto value_at = std::min(options.find_first_not_of("= \t"), options.size());
        const auto value = options.substr(value_at, options.find_first_of(" \t", value_at) - value_at);
        if (!value.starts_with(algorithm)) return {};
        allowed.push_back(base::ascii_lower(value.substr(algorithm.size())));
    }
    return allowed;
}

void bound_by(Wanted& wanted, const Wanted& bound) {
    wanted.specifiers.add(bound.specifiers);
    if (wanted.sha256s.empty()) wanted.sha256s = bound.sha256s;
}

class RequirementsReader {
  public:
    explicit RequirementsReader(const EnvironmentMap& environment) : environment_(environment) {}
    // The requirements of a file of constraints name no project, and bound those that others name.
    base::Status read(const fs::path& file, int depth, bool is_constraints) {
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
        for (const auto& line : logical_lines(text, environment_)) {
            if (line.text.empty()) continue;
            if (const auto nested = nested_file(line.text, "--requirement", "-r")) {
                WHEELYARD_TRY(read(file.parent_path() / *nested, depth + 1, is_constraints));
            } else if (const auto constraints = nested_file(line.text, "--constraint", "-c")) {
                WHEELYARD_TRY(read(file.parent_path() / *constraints, depth + 1, true));
            } else if (!line.text.starts_with('-') && !is_location(line.text)) {
                // Options of one requirement follow it.
                const auto options_at = std::min(line.text.find(" --"), line.text.size());
                const auto requirement = base::trim(std::string_view(line.text).substr(0, options_at));
                auto& to = is_constraints ? constraints_ : wanted_;
                WHEELYARD_TRY(add(requirement, file.native() + ":" + std::to_string(line.number), to));
                to.back().sha256s = allowed_sha256s(std::string_view(line.text).substr(options_at));
            }
        }
        return {};
    }
    // Of a project that several lines name all bounds hold.
    std::vector<Wanted> take() {
        std::vector<Wanted> all;
        for (Wanted& wanted : wanted_) {
            const auto before = std::find_if(all.begin(), all.end(), [&](const Wanted& one) {
                return one.pattern == wanted.pattern && !one.is_glob() && !one.marker && !wanted.marker;
            });
            if (before == all.end())
                all.push_back(std::move(wanted));
            else
                bound_by(*before, wanted);
        }
        for (const Wanted& bound : constraints_) {
            for (Wanted& wanted : all)
                if (bound.pattern == wanted.pattern && !bound.marker) bound_by(wanted, bound);
        }
        return all;
    }

  private:
    base::Status read_pyproject(std::string_view text, const fs::path& file) {
        WHEELYARD_ASSIGN(auto document, io::TomlDocument::parse(text, file));
        for (const auto& dependency :
             document.root().table_or_empty("project").strings_or("dependencies", {})) {
            WHEELYARD_TRY(add(dependency, file.native(), wanted_));
        }
        return {};  // no finish(): other keys belong to other tools
    }

    base::Status take_lock(std::string_view text, const fs::path& file) {
        WHEELYARD_ASSIGN(const Lock lock, simple::parse_lock(text, file));
        for (const LockedPackage& package : lock.packages)
            wanted_.push_back(wanted_of(package, lock));
        return {};
    }

    static base::Status add(std::string_view requirement, const std::string& place, std::vector<Wanted>& to) {
        if (to.size() >= max_requirements) {
            return base::fail("wanted.too_many", "Too many requirements", place);
        }
        auto wanted = parse_wanted(requirement);
        if (!wanted) {
            wanted.error().sentence = place + ": " + wanted.error().sentence;
            return tl::unexpected(std::move(wanted.error()));
        }
        to.push_back(std::move(*wanted));
        return {};
    }

    const EnvironmentMap& environment_;
    std::vector<Wanted> wanted_;
    std::vector<Wanted> constraints_;
};

}  // namespace

base::Result<std::vector<Wanted>> read_requirements(const fs::path& file, const EnvironmentMap& environment) {
    RequirementsReader reader(environment);
    WHEELYARD_TRY(reader.read(file, 0, false));
    return reader.take();
}

}  // namespace wheelyard::avail_wheels
