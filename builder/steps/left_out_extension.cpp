#include "builder/steps/left_out_extension.hpp"

#include <algorithm>
#include <array>

#include "builder/attempt/job_files.hpp"
#include "builder/doctor/doctor_rules.hpp"
#include "builder/doctor/error_line.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::uint64_t max_build_file_bytes = base::mib;  // of setup.py and the like

// In lower case; `*` is any text. A pure wheel after one of these lines lacks an extension.
constexpr std::array<std::string_view, 10> left_out = {
    "building '*' extension",                  // setuptools begins one
    "building extension \"*\" failed",         // setuptools, of an optional one
    "extension could not be compiled",         // markupsafe, SQLAlchemy, simplejson, tornado
    "extension) could not be compiled",        // zope.interface
    "plain-python build succeeded",            // markupsafe
    "pure python build",                       // multidict, frozenlist, yarl: NO_EXTENSIONS
    "couldn't install with extension module",  // coverage
    "build optional rust extension*failed",    // setuptools-rust
    "forcing --without-libyaml",               // PyYAML
    "skipping optional extension",
};

// Why: what a compiler, or who starts it, prints.
constexpr std::array<std::string_view, 5> reasons = {"error: command '*' failed", "unable to execute '*'",
                                                     "fatal error:", "error: linker `*` not found",
                                                     "can't find rust compiler"};

struct Word {
    const char* file;
    std::string_view text;
};
// What declares an extension in a project's own build files.
constexpr std::array<Word, 8> declarations = {{
    {"setup.py", "ext_modules"},
    {"setup.py", "mypycify"},
    {"setup.py", "cffi_modules"},
    {"setup.py", "rust_extensions"},
    {"setup.cfg", "ext_modules"},
    {"pyproject.toml", "ext-modules"},
    {"pyproject.toml", "mypyc"},
    {"pyproject.toml", "cython"},
}};

template <std::size_t size>
bool has_one(const std::array<std::string_view, size>& patterns, std::string_view lower) {
    return std::any_of(patterns.begin(), patterns.end(),
                       [&](std::string_view pattern) { return matches_pattern(pattern, lower); });
}

}  // namespace

std::optional<LogLine> find_left_out_extension(std::string_view log) {
    std::optional<LogLine> found;
    std::uint64_t number = 0;
    bool is_build = true;  // a log without marks is of one
    for (const auto line : base::split_lines(log)) {
        ++number;
        if (line.starts_with(phase_mark)) {
            is_build = line.substr(phase_mark.size()).starts_with("build ");
            continue;
        }
        if (!is_build) continue;
        const std::string lower = base::ascii_lower(line);
        if (found && has_one(reasons, lower)) return LogLine{number, shorten_line(line)};
        if (!found && has_one(left_out, lower)) found = LogLine{number, shorten_line(line)};
    }
    return found;
}

std::string extension_in_source(const std::filesystem::path& project) {
    for (const auto& [file, text] : declarations) {
        const auto content = base::read_untrusted_file(project / file, max_build_file_bytes);
        if (content && content->find(text) != std::string::npos) return std::string(text) + " in " + file;
    }
    return "";
}

std::string notice_of_pure_wheel(const Recipe& recipe, const std::filesystem::path& project) {
    if (recipe.extension != ExtensionWish::unsaid) return "";
    const std::string declared = extension_in_source(project);
    if (declared.empty()) return "";
    return "without an extension, which its source can have (" + declared +
           "); `extension` in [build] of its recipe says whether it is wanted";
}

}  // namespace wheelyard::builder
