// Compares the libraries that one ELF file needs, and its search paths, with the platform tags and the
// index's policy.
#include "lib/inspect/truth/tag_truth.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "lib/base/text/text.hpp"
#include "lib/inspect/dist_info/installed_tree.hpp"
#include "lib/inspect/elf/private_symbols.hpp"
#include "lib/inspect/truth/libraries.hpp"
#include "lib/inspect/truth/manylinux.hpp"

namespace wheelyard::inspect {
namespace {

void check_versions(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                    Findings& findings) {
    VersionFloors needed;
    for (const auto& need : member.elf.version_needs) {
        if (is_private_to_glibc(need))
            findings.add("elf.private_symbol", member.name,
                         "symbols of every " + need.file + " on the tag's systems", need.version);
        const auto version = parse_symbol_version(need.version);
        if (!version || provided.has(need.file, *version)) continue;
        auto& highest = needed[version->prefix];
        highest = std::max(highest, version->numbers);
    }
    const std::string as_tag = ", as in " + promise.lowest_manylinux_tag;
    const std::vector<std::uint64_t> glibc = {static_cast<std::uint64_t>(promise.lowest_manylinux->first),
                                              static_cast<std::uint64_t>(promise.lowest_manylinux->second)};
    if (needed["GLIBC"] > glibc) {
        findings.add("elf.glibc_above_policy", member.name, "at most GLIBC_" + dotted(glibc) + as_tag,
                     "GLIBC_" + dotted(needed["GLIBC"]));
    }
    if (promise.lowest_manylinux->first != 2) return;
    const auto limits = manylinux_limits(promise.lowest_manylinux->second, member.elf.machine);
    if (!limits) return;
    for (const auto& [prefix, limit] : *limits) {
        const auto floor = needed.find(prefix);
        if (floor == needed.end() || floor->second <= limit) continue;
        const std::string expected =
            limit.empty() ? "no version of " + prefix : "at most " + prefix + "_" + dotted(limit);
        findings.add("elf.runtime_above_policy", member.name, expected + as_tag,
                     prefix + "_" + dotted(floor->second));
    }
}

void check_libc_kind(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                     Findings& findings) {
    const auto mismatch = [&](std::string_view expected, const std::string& found) {
        findings.add("elf.libc_mismatch", member.name, expected, found);
    };
    constexpr std::string_view glibc_expected = "glibc, for a manylinux tag",
                               musl_expected = "musl, for a musllinux tag";
    std::vector<std::string> names = member.elf.needed;
    if (!member.elf.interpreter.empty()) names.emplace_back(base::base_name(member.elf.interpreter));
    for (const std::string& library : names) {
        if (promise.manylinux && !promise.musllinux && is_musl(library)) mismatch(glibc_expected, library);
        if (promise.musllinux && !promise.manylinux && is_glibc(library)) mismatch(musl_expected, library);
    }
    if (!promise.musllinux || promise.manylinux) return;
    if (c_libraries(member).count("bionic") != 0) mismatch(musl_expected, "bionic, Android's C library");
    const bool named = std::any_of(names.begin(), names.end(), is_glibc);
    for (const auto& need : member.elf.version_needs) {
        if (named || !need.version.starts_with("GLIBC_") || provided.has(need.file)) continue;
        mismatch(musl_expected, need.version + " of " + need.file);
        return;
    }
}

// Symbols that the tag's systems do not guarantee, in libraries that the wheel does not provide.
void check_private_names(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                         Findings& findings) {
    for (const std::string& name : member.elf.symbols.private_imports) {
        for (const PrivateSymbol& row : private_symbols(name)) {
            const auto& needed = member.elf.needed;
            if (provided.has(row.library) ||
                std::find(needed.begin(), needed.end(), row.library) == needed.end())
                continue;
            const bool by_manylinux = promise.lowest_manylinux && promise.lowest_manylinux->first == 2 &&
                                      promise.lowest_manylinux->second <= row.last_glibc_minor;
            if (by_manylinux || (promise.musllinux && row.musl))
                findings.add("elf.private_symbol", member.name,
                             "symbols of every " + std::string(row.library) + " on the tag's systems", name);
        }
    }
}

// PEP 513: Pythons with and without fpectl have different ABIs; manylinux wheels are for those without.
void check_fpectl(const ElfMember& member, const Promise& promise, Findings& findings) {
    if (promise.manylinux && member.elf.symbols.needs_fpectl)
        findings.add("elf.fpectl", member.name, "a module for Pythons without fpectl", "PyFPE_jbuf");
}

bool is_under(std::string_view path, std::string_view prefix) {
    while (prefix.ends_with('/'))
        prefix.remove_suffix(1);
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

// Says whether `rest`, relative to the folder of `member`, leaves site-packages for a folder in which the
// wheel has no library.
bool escapes(const ElfMember& member, std::string_view rest, const std::vector<ElfMember>& elves) {
    if (installed_path(member.name).folder != InstallFolder::site) return false;
    const auto folder = folder_from(installed_at(member.name), rest);
    if (!folder) return true;
    return !folder->starts_with(installed_at("")) &&
           std::none_of(elves.begin(), elves.end(), [&](const ElfMember& other) {
               const std::string place = installed_at(other.name);
               return place == *folder + std::string(base::base_name(place));
           });
}

}  // namespace

void check_runtime(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                   Findings& findings) {
    if (promise.lowest_manylinux) check_versions(member, promise, provided, findings);
    check_libc_kind(member, promise, provided, findings);
    check_private_names(member, promise, provided, findings);
    check_fpectl(member, promise, findings);
}

void check_needed(const ElfMember& member, const Promise& promise, const ProvidedLibraries& provided,
                  const RequiredLibraries& required, Findings& findings) {
    for (const std::string& library : member.elf.needed) {
        if (provided.has(library)) {
            if (!provided.finds(member, library))
                findings.add("elf.own_library_not_found", member.name, {}, library);
            continue;
        }
        if (!promise.manylinux && !promise.musllinux) continue;
        const bool allowed =
            (promise.manylinux && is_policy_library(library, promise.lowest_manylinux->first == 2
                                                                 ? promise.lowest_manylinux->second
                                                                 : newest_glibc_minor)) ||
            (promise.musllinux && is_musllinux_library(library));
        // check_libc_kind reports the wrong C library.
        if (allowed || is_glibc(library) || is_musl(library)) continue;
        const LibraryKind kind = library_kind(library);
        const std::string expected = "a library in the wheel or on all of the tag's systems";
        if (kind == LibraryKind::python) {
            findings.add("elf.needs_libpython", member.name, "no libpython", library);
        } else if (kind == LibraryKind::unknown || kind == LibraryKind::system || kind == LibraryKind::blas) {
            const std::string project = required.project_of(library);
            if (project.empty())
                findings.add("elf.needed_unknown", member.name, expected, library);
            else
                findings.add("elf.needed_external", member.name, expected, library + " of " + project);
        } else {
            findings.add("elf.needed_external", member.name, expected,
                         library + " of " + std::string(library_kind_text(library)));
        }
    }
}

namespace {

// One finding for all that one file has: "/a/lib, /b/lib and 18 more".
void add_together(std::string_view rule, const ElfMember& member, std::string_view expected,
                  const std::set<std::string>& found, Findings& findings) {
    if (found.empty()) return;
    constexpr std::size_t most_shown = 3;
    std::vector<std::string> shown;
    for (const std::string& one : found) {
        if (shown.size() < most_shown) shown.push_back(one);
    }
    std::string text = base::join(shown, ", ");
    if (found.size() > shown.size()) text += " and " + std::to_string(found.size() - shown.size()) + " more";
    findings.add(rule, member.name, expected, text);
}

// Where users of a cluster may make or fill folders: then they choose which library others load. All other
// folders, such as /lib/intel64 and /opt/build, only root can make. Beginnings of paths without empty and `.`
// parts, in lower case; and parts at any depth.
constexpr std::string_view open_folders[] = {"home", "users",   "work",     "lustre",    "gpfs",
                                             "mnt",  "media",   "data",     "dev",       "proc",
                                             "run",  "var/run", "var/lock", "var/crash", "var/spool"};
bool is_open_part(std::string_view part) {
    return part == ".." || part == "tmp" || part.find("scratch") != std::string_view::npos;
}

bool is_open_to_others(std::string_view path) {
    if (!path.starts_with('/')) return true;  // depends on the current directory
    const std::string lower = base::ascii_lower(path);
    std::string plain;
    bool has_open_part = false;
    for (const std::string_view part : base::split(lower, '/')) {
        if (part.empty() || part == ".") continue;
        has_open_part |= is_open_part(part);
        plain.append(plain.empty() ? "" : "/").append(part);
    }
    return has_open_part || std::any_of(std::begin(open_folders), std::end(open_folders),
                                        [&](std::string_view folder) { return is_under(plain, folder); });
}

}  // namespace

void check_search_paths(const ElfMember& member, const std::vector<ElfMember>& elves, const Policy& policy,
                        Findings& findings) {
    std::vector<std::string> paths = member.elf.search_paths;
    // A library that is needed by a path is looked for there alone.
    std::copy_if(member.elf.needed.begin(), member.elf.needed.end(), std::back_inserter(paths),
                 is_path_outside);
    std::set<std::string> outside, of_root, escaping, of_modules;
    for (const std::string& path : paths) {
        if (path.empty()) {
            outside.insert("an empty element, which is the current directory");
            continue;
        }
        if (const auto rest = after_origin(path)) {
            if (escapes(member, *rest, elves)) escaping.insert(path);
            continue;
        }
        const bool allowed =
            path.find("..") == std::string::npos &&
            std::any_of(policy.search_path_prefixes.begin(), policy.search_path_prefixes.end(),
                        [&](const std::string& prefix) { return is_under(path, prefix); });
        if (!allowed) {
            (is_open_to_others(path) ? outside : of_root).insert(path);
            continue;
        }
        const std::string module = module_of_path(path);
        of_modules.insert(module.empty() ? path : module + " in " + path);
    }
    add_together("elf.search_path", member, "$ORIGIN or a prefix from the index's policy", outside, findings);
    add_together("elf.search_path_of_root", member, "$ORIGIN or a prefix from the index's policy", of_root,
                 findings);
    add_together("elf.origin_escapes", member, "a folder below site-packages", escaping, findings);
    add_together("elf.needs_module", member, {}, of_modules, findings);
}

}  // namespace wheelyard::inspect
