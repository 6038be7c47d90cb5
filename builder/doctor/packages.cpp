// The table is read once; each notation is a row.
#include "builder/doctor/doctor.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "builder/doctor/error_line.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace templates {

extern const std::string_view packages;
extern const std::string_view symbols;

}  // namespace templates
namespace {

struct Install {
    std::string_view debian;
    std::string_view red_hat;
    std::string_view suse;
    std::string_view word;
    std::string_view variable;  // that names its folder; empty: none
};
using Key = std::pair<WantedKind, std::string>;

constexpr std::string_view none = "-";
constexpr std::size_t first_names = 4;  // the column of headers
constexpr auto kinds =
    std::to_array({WantedKind::header, WantedKind::library, WantedKind::program, WantedKind::package});

std::map<Key, Install> read_table() {
    std::map<Key, Install> table;
    for (const auto line : base::split_lines(templates::packages)) {
        const auto cells = base::split(line, '\t');
        constexpr std::size_t last = first_names + kinds.size();
        if (line.starts_with('#') || cells.size() < last) continue;
        const Install install{cells[0], cells[1], cells[2], cells[3],
                              cells.size() > last ? cells[last] : std::string_view()};
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            for (const auto name : base::split(cells[first_names + i], ' ')) {
                if (name != none) table.emplace(Key(kinds[i], base::ascii_lower(name)), install);
            }
        }
    }
    return table;
}

struct Naming {
    WantedKind kind;
    std::string_view before;
    std::string_view after;  // the name ends here
};
constexpr auto namings = std::to_array<Naming>({
    {WantedKind::library, "cannot find -l", ""},
    {WantedKind::library, "library not found for -l", ""},
    {WantedKind::library, "unable to find library -l", ""},
    {WantedKind::library, "could not find system library '", "'"},
    {WantedKind::header, "fatal error: '", "' file not found"},
    {WantedKind::header, "fatal error: ", ": no such file"},
    {WantedKind::header, "error: ", ": no such file"},
    {WantedKind::header, "cannot open source file \"", "\""},
    {WantedKind::header, "c header '", "'"},
    {WantedKind::package, "configuration file provided by \"", "\""},
    {WantedKind::package, "by not providing \"find", ".cmake"},
    {WantedKind::package, "could not find ", "_library using the following"},
    {WantedKind::package, "could not find ", " (missing:"},
    {WantedKind::package, "could not find ", " (found"},
    {WantedKind::package, "no package '", "' found"},
    {WantedKind::package, "package '", "', required by"},
    {WantedKind::package, "package ", " was not found in the pkg-config"},
    {WantedKind::package, "dependency \"", "\" not found"},
    {WantedKind::package, "dependency lookup for ", " with method"},
    {WantedKind::package, "shared or static library '", "' not found"},
    {WantedKind::package, "the system library `", "` required by"},
    {WantedKind::package, "did not find ", " headers"},
    {WantedKind::package, "did not find ", " version"},
    {WantedKind::package, "unable to load dependency ", ","},
    {WantedKind::package, "no ", " libraries found"},
    {WantedKind::package, "no ", " resources found"},
    {WantedKind::package, "", " (http://www.netlib"},
    {WantedKind::package, "could not find directory of ", " installation"},
    {WantedKind::package, "", "_home is not set"},
    {WantedKind::package, "", "_home environment variable is not"},
    {WantedKind::program, "cannot be built without ", " in the path"},
    {WantedKind::program, "", " executable not found"},
});

// "./libfabric.so.1: cannot open shared object file": "fabric".
Wanted missing_at_run_time(std::string_view lower) {
    const auto end = lower.find(": cannot open shared object file");
    if (end == std::string_view::npos) return {};
    std::string_view name = lower.substr(0, end);
    name.remove_prefix(std::min(name.find_last_of(" '/") + 1, name.size()));
    const auto suffix = name.find(".so");
    if (!name.starts_with("lib") || suffix == std::string_view::npos) return {};
    constexpr std::size_t prefix = 3;
    return {WantedKind::library, std::string(name.substr(prefix, suffix - prefix)), {}};
}

bool may_be_header(std::string_view name) {
    return name.find(".h") != std::string_view::npos || name.find('.') == std::string_view::npos ||
           name.ends_with(".inc") || name.ends_with(".cuh");
}

bool is_name(std::string_view name) {
    return !name.empty() && name.find_first_of(" \t\"'`()=:") == std::string_view::npos;
}

Wanted named(const Naming& naming, std::string_view lower) {
    const auto at = lower.find(naming.before);
    if (at == std::string_view::npos) return {};
    std::string_view rest = lower.substr(at + naming.before.size());
    const auto end =
        naming.after.empty() ? std::min(rest.find_first_of(" :\t"), rest.size()) : rest.find(naming.after);
    if (end == std::string_view::npos) return {};
    rest = rest.substr(0, end);
    if (naming.before.empty()) rest.remove_prefix(std::min(rest.find_last_of(" :\"") + 1, rest.size()));
    const std::string_view name = naming.kind == WantedKind::header ? base::base_name(rest) : rest;
    if (!is_name(name) || (naming.kind == WantedKind::header && !may_be_header(name))) return {};
    return {naming.kind, std::string(name), std::string(rest)};
}

const Install* find_install(const Wanted& wanted) {
    static const std::map<Key, Install> table = read_table();
    const auto look_up = [&](WantedKind kind, const std::string& name) -> const Install* {
        const auto found = table.find(Key(kind, name));
        return found == table.end() ? nullptr : &found->second;
    };
    const Install* install = look_up(wanted.kind, wanted.name);
    if (install != nullptr || (wanted.kind != WantedKind::library && wanted.kind != WantedKind::package))
        return install;
    // CMake, Meson and the linker call one thing by several names.
    for (const WantedKind kind : {WantedKind::package, WantedKind::library}) {
        for (const std::string& name :
             {wanted.name, "lib" + wanted.name, wanted.name.substr(wanted.name.starts_with("lib") ? 3 : 0)}) {
            if (const Install* other = look_up(kind, name); other != nullptr) return other;
        }
    }
    return nullptr;
}

}  // namespace

Wanted wanted_by(std::string_view line) {
    const std::string lower = base::replace_all(
        base::replace_all(base::ascii_lower(base::trim(line)), "\u2018", "'"), "\u2019", "'");
    if (auto library = missing_at_run_time(lower); library.kind != WantedKind::nothing) return library;
    for (const auto& naming : namings) {
        if (auto wanted = named(naming, lower); wanted.kind != WantedKind::nothing) return wanted;
    }
    auto program = missing_program(lower);
    return is_name(program) ? Wanted{WantedKind::program, std::move(program), {}} : Wanted{};
}

namespace {

// Says whether the header is of the source's own tree: "/b/rabit/src/a.cc:15:10: fatal error: rabit/io.h: …".
bool is_own_header(std::string_view lower, std::string_view path) {
    const auto end = path.find('/');
    if (end == std::string_view::npos) return false;
    const std::string file = "/" + source_line_of(lower).file;
    return file.find("/" + std::string(path.substr(0, end + 1))) != std::string::npos &&
           file.find("/include/") == std::string::npos;
}

}  // namespace

std::string missing_thing(std::string_view lower) {
    if (const auto program = missing_program(lower); !program.empty())
        return "program '" + program + "' not found";
    const Wanted wanted = wanted_by(lower);
    if (wanted.kind == WantedKind::header)
        return (is_own_header(lower, wanted.path) ? "own header '" : "header '") + wanted.path +
               "' not found";
    if (wanted.kind == WantedKind::library) return "library '" + wanted.name + "' not found";
    return {};
}

std::string install_commands(const Wanted& wanted) {
    const Install* install = find_install(wanted);
    if (install == nullptr) return {};
    std::string text = "Debian, Ubuntu: apt-get install " + std::string(install->debian);
    if (install->red_hat != none) text += "; Red Hat: dnf install " + std::string(install->red_hat);
    if (install->suse != none) text += "; SUSE: zypper install " + std::string(install->suse);
    text += "; modules: module spider " + std::string(install->word);
    return install->variable.empty() ? text : text + "; or its folder in " + std::string(install->variable);
}

std::string search_commands(const Wanted& wanted) {
    if (!is_name(wanted.name)) return {};
    const std::string_view stem = std::string_view(wanted.name).substr(0, wanted.name.find('.'));
    std::string file = "/" + wanted.name;
    if (wanted.kind == WantedKind::library) file = "/lib" + wanted.name + ".so";
    if (wanted.kind == WantedKind::program) file = "/bin/" + wanted.name;
    if (wanted.kind == WantedKind::package) file = "/" + wanted.name + ".pc";
    return "Debian, Ubuntu: apt-file search " + file + "; Red Hat: dnf provides '*" + file +
           "'; SUSE: zypper search --provides --file-list '*" + file + "'; modules: module spider " +
           std::string(stem);
}

namespace {

// "…: undefined symbol: NAME, version X", "undefined reference to `vtable for c10::Error'": the name.
std::string_view missing_symbol(std::string_view line) {
    for (const std::string_view before : {"undefined symbol: ", "undefined reference to "}) {
        const auto at = line.find(before);
        if (at == std::string_view::npos) continue;
        std::string_view name = line.substr(at + before.size());
        for (const std::string_view mark : {"`", "'", "\u2018", "vtable for ", "typeinfo for ",
                                            "non-virtual thunk to ", "typeinfo name for "})
            if (name.starts_with(mark)) name.remove_prefix(mark.size());
        return name;
    }
    return {};
}

}  // namespace

std::string symbol_advice(std::string_view line) {
    const std::string_view name = missing_symbol(line);
    std::size_t longest = 0;
    std::string advice;
    for (const auto row : base::split_lines(templates::symbols)) {
        const auto cells = base::split(row, '\t');
        if (row.starts_with('#') || cells.size() < 3) continue;
        for (const auto beginning : base::split(cells[1], ' ')) {
            if (beginning.size() <= longest || !name.starts_with(beginning)) continue;
            longest = beginning.size();
            advice = "The symbol is of " + std::string(cells[0]) + ". " + std::string(cells[2]) +
                     " Modules: `load` in [modules] of site.toml.";
        }
    }
    return advice;
}

}  // namespace wheelyard::builder
