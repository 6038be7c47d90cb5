// Queries run in the Python that builds, in an environment with the packages installed so far.
#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <system_error>
#include <vector>

#include "builder/script/script_frame.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::builder {

namespace templates {  // templates/NAME

extern const std::string_view ask_back_end;
// A Python of its own, because importing pip before setuptools changes what setuptools does.
extern const std::string_view check_requirements;
extern const std::string_view needs;

}  // namespace templates

namespace {

using base::quote_shell;

// A Python list of strings.
std::string render_list(const std::vector<std::string>& items) {
    std::vector<std::string> quoted;
    for (const auto& item : items) {
        std::string text = base::replace_all(base::replace_all(item, "\\", "\\\\"), "\"", "\\\"");
        text = base::replace_all(text, "\n", "\\n");  // a line of it could end the here-document
        quoted.push_back("\"" + text + "\"");
    }
    return "[" + base::join(quoted, ", ") + "]";
}

}  // namespace

bool asks_back_end(const ScriptInput& input) {
    return input.recipe.front_end != "setup-py" && input.recipe.source != SourceKind::upstream;
}

std::string requirements_command(const ScriptInput& input) {
    // A tree that continues keeps the tools that began it, and files with hashes keep what they name.
    const bool is_locked = input.attempt.asked.closure.has_value();
    if (!input.attempt.job.builds_in.empty() || !input.hashed_files.empty() || is_locked)
        return "pip_install";
    return "pip_install --upgrade --upgrade-strategy eager";
}

std::string render_install(const ScriptInput& input, std::string_view command) {
    const auto& closure = input.attempt.asked.closure;
    if (closure && !closure->lock.empty()) return "";  // it has all of them
    std::string text;
    for (const auto* list : {&input.attempt.source.build_requires, &input.recipe.build_requires}) {
        if (list == &input.attempt.source.build_requires && !asks_back_end(input)) continue;
        for (const auto& requirement : *list)
            text += " " + quote_shell(requirement);
    }
    if (input.recipe.front_end == "build") text += " build";
    if (needs_metadata_step(input) && (text + " ").find(" wheel ") == std::string::npos) text += " wheel";
    if (!input.attempt.asked.against.empty()) text += " " + quote_shell(input.attempt.asked.against);
    const auto& hashed = input.hashed_files;
    for (const auto& file : input.recipe.requirements_files) {
        if (std::find(hashed.begin(), hashed.end(), file) == hashed.end())
            text += " --requirement " + quote_shell(file);
    }
    return text.empty() ? "" : std::string(command) + text + "\n";
}

std::string render_lock(const ScriptInput& input, std::string_view command) {
    const auto& closure = input.attempt.asked.closure;
    if (!closure || closure->lock.empty()) return "";
    std::string text = "# The build environment of its closure, by hash.\nprintf '%s\\n'";
    for (const auto& [filename, digest] : closure->lock) {
        const auto name = wheel::parse_wheel_filename(filename);  // of the index: the plan has read it
        if (name)
            text += " \\\n    " + quote_shell(wheel::normalize_name(name->project) +
                                              "==" + name->version_text + " --hash=" + digest);
    }
    return text + " > \"$folder/lock.txt\"\n" + std::string(command) +
           " --no-deps --require-hashes --requirement \"$folder/lock.txt\"\n";
}

std::string render_asking(const ScriptInput& input) {
    return fill(templates::ask_back_end,
                {{"back_end", input.attempt.source.back_end},
                 {"back_end_path", render_list(input.attempt.source.back_end_path)}}) +
           fill(templates::check_requirements, {{"file", "requires.txt"}});
}

std::string render_needs(const ScriptInput& input) {
    const std::string& against = input.attempt.asked.against;
    const std::string name = against.substr(0, std::min(against.size(), against.find("==")));
    return fill(templates::needs, {{"against", quote_shell(name)},
                                   {"back_end", asks_back_end(input) ? input.attempt.source.back_end : ""},
                                   {"back_end_path", render_list(input.attempt.source.back_end_path)}}) +
           fill(templates::check_requirements, {{"file", "needs.txt"}});
}

// Parses requirements files only as far as needed to find hashes and included files.
namespace {

// A lock file with the hashes of every platform.
constexpr std::uint64_t max_requirements_bytes = 16 * base::mib;

namespace fs = std::filesystem;

// Returns whether the file, or one that it includes, names hashes. Reads each file at most once.
base::Result<bool> makes_pip_check(const fs::path& file, std::set<fs::path>& seen) {
    if (!seen.insert(file).second) return false;
    if (seen.size() > max_requirements_files)
        return base::fail("source.requirements",
                          "The project's requirements files include too many other files", file.string());
    const auto text = base::read_untrusted_file(file, max_requirements_bytes);
    if (!text && text.error().os_error == ENOENT)
        return base::fail("source.requirements", "The project has no such requirements file", file.string(),
                          "correct `requirements_files` in the recipe");
    if (!text) return tl::unexpected(text.error());
    if (names_hashes(*text)) return true;
    for (const auto& included : included_files(*text)) {
        if (included.find("://") != std::string::npos) continue;  // a URL: pip fetches it
        WHEELYARD_ASSIGN(const bool checks,
                         makes_pip_check((file.parent_path() / included).lexically_normal(), seen));
        if (checks) return true;
    }
    return false;
}

std::string render_files(const ScriptInput& input) {
    std::string text;
    for (const auto& file : input.hashed_files)
        text += " --requirement " + base::quote_shell(file);
    return text;
}

}  // namespace

bool names_hashes(std::string_view requirements) {
    for (const auto line : base::split_lines(requirements)) {
        const auto text = base::trim(line);
        if (text.starts_with("#")) continue;
        const auto before_comment = text.substr(0, text.find(" #"));
        if (before_comment.find("--hash=") != std::string_view::npos ||
            before_comment.find("--hash ") != std::string_view::npos ||
            before_comment.find("--require-hashes") != std::string_view::npos) {
            return true;
        }
    }
    return false;
}

std::vector<std::string> included_files(std::string_view requirements) {
    static constexpr std::array<std::string_view, 4> options = {"--requirement", "--constraint", "-r", "-c"};
    std::vector<std::string> files;
    for (const auto line : base::split_lines(requirements)) {
        const auto text = base::trim(line.substr(0, line.find(" #")));
        for (const auto option : options) {
            if (!text.starts_with(option)) continue;
            auto name = base::trim(text.substr(option.size()));
            if (name.starts_with("=")) name = base::trim(name.substr(1));
            if (!name.empty()) files.emplace_back(name);
            break;
        }
    }
    return files;
}

base::Result<std::vector<std::string>> find_hashed_files(const Recipe& recipe, const fs::path& project) {
    std::vector<std::string> hashed;
    for (const auto& file : recipe.requirements_files) {
        std::set<fs::path> seen;
        WHEELYARD_ASSIGN(const bool checks, makes_pip_check(project / file, seen));
        if (checks) hashed.push_back(file);
    }
    return hashed;
}

std::string render_checked_install() {
    return "(cd \"$folder\" && pip_install --no-deps --require-hashes --requirement checked.txt)\n";
}

std::string render_hashed_install(const ScriptInput& input) {
    if (input.hashed_files.empty()) return "";
    std::string text =
        "# A command of its own: with hashes, pip demands a hash for everything in the same command.\n";
    if (!input.site.offline_jobs) return text + "pip_install" + render_files(input) + "\n";
    return "# Install the wheels that the login node checked or built from a checked sdist.\n"
           "sed 's/^checked.\\(.*\\) --hash=/requirement\\t\\1\\t/' \"$folder/checked.txt\" >> "
           "\"$folder/built_by\"\n" +
           render_checked_install();
}

std::string render_hashed_wheels(const ScriptInput& input) {
    if (input.hashed_files.empty()) return "";
    return "# pip checks the hashes of the files; checked.txt lists those of the wheels, some of them built "
           "here.\n"
           "rm -rf \"$folder/checked\"\n"
           "pip_wheel --wheel-dir \"$folder/checked\"" +
           render_files(input) +
           "\n(cd \"$folder\" && sha256sum checked/*.whl) | while read -r digest wheel; do\n"
           "    echo \"$wheel --hash=sha256:$digest\"\n"
           "done > \"$folder/checked.txt\"\n";
}

}  // namespace wheelyard::builder
