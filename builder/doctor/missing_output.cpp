// Linkers, compiler drivers, archivers and copies that do not find what an earlier step should have made: one
// row each.
#include <algorithm>
#include <array>

#include "builder/doctor/error_line.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

struct OutputNotation {
    std::string_view before;
    std::string_view after;
    bool of_copies = false;  // the file may be of any kind
};
constexpr auto notations = std::to_array<OutputNotation>({
    {"cannot find ", ": no such file"},                 // ld since 2.36
    {"cannot find ", ""},                               // ld before
    {"cannot open ", ": no such file"},                 // gold, lld
    {"error: ", ": no such file or directory"},         // gcc
    {"no such file or directory: '", "'"},              // clang, Python
    {"ar: ", ": no such file or directory"},            // binutils
    {"can't copy '", "': doesn't exist", true},         // setuptools
    {"cannot stat '", "': no such file or dir", true},  // cp, install, mv
});
constexpr auto made_by_a_build = std::to_array<std::string_view>({".o", ".obj", ".lo", ".a", ".la"});
// Of the C library and of the compiler: no build makes them.
constexpr auto start_files = std::to_array<std::string_view>({"crt", "scrt", "gcrt", "mcrt", "rcrt"});

bool ends_with_any(std::string_view text, const auto& ends) {
    return std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return text.ends_with(end); });
}

bool is_made(std::string_view path, bool of_copies) {
    if (path.empty() || path.starts_with('-')) return false;
    const std::string_view name = base::base_name(path);
    if (std::any_of(start_files.begin(), start_files.end(),
                    [&](std::string_view start) { return name.starts_with(start); }))
        return false;
    if (of_copies) return true;
    // "libx.a" without a folder may be a library that -l: asks for.
    const bool may_be_library = path.find('/') == std::string_view::npos && name.starts_with("lib");
    return ends_with_any(name, made_by_a_build) && !may_be_library;
}

}  // namespace

std::string missing_output(std::string_view lower) {
    const std::string text = base::replace_all(
        base::replace_all(base::replace_all(base::trim(lower), "\u2018", "'"), "\u2019", "'"), "`", "'");
    const std::string_view line = text;
    for (const auto& one : notations) {
        const auto at = line.rfind(one.before);
        if (at == std::string_view::npos) continue;
        const std::string_view rest = line.substr(at + one.before.size());
        const auto end = one.after.empty() ? rest.size() : rest.find(one.after);
        if (end == std::string_view::npos) continue;
        const std::string_view path = rest.substr(0, end);
        if (path.find(' ') == std::string_view::npos && is_made(path, one.of_copies))
            return std::string(path);
    }
    return {};
}

}  // namespace wheelyard::builder
