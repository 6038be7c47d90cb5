#include "lib/inspect/truth/gather_facts.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/inspect/elf/elf_identity.hpp"
#include "lib/inspect/elf/private_symbols.hpp"
#include "lib/inspect/elf/torch_names.hpp"
#include "lib/inspect/truth/libraries.hpp"
#include "lib/inspect/truth/manylinux.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/requirement.hpp"

namespace wheelyard::inspect {

namespace {

std::vector<std::string> texts_of(const std::set<std::string>& set) {
    return {set.begin(), set.end()};
}

std::string isa_text(unsigned level) {
    if (level == 0) return {};
    return level == 1 ? "x86-64" : "x86-64-v" + std::to_string(level);
}

std::string known_abi(StringAbi abi) {
    return abi == StringAbi::unknown ? std::string() : std::string(string_abi_text(abi));
}

// By file name and by SONAME, as the dynamic linker looks for them.
std::map<std::string, std::string> library_hashes(const std::vector<ElfMember>& elves, const Facts& facts) {
    std::set<std::string_view> libraries(facts.provides.begin(), facts.provides.end());
    if (const auto inside = facts.needed.find("inside"); inside != facts.needed.end())
        libraries.insert(inside->second.begin(), inside->second.end());
    std::map<std::string, std::string> hashes;
    for (const ElfMember& member : elves) {
        for (const std::string_view name :
             {base::base_name(member.name), std::string_view(member.elf.soname)}) {
            if (!libraries.contains(name)) continue;
            const auto [there, is_new] = hashes.try_emplace(std::string(name), member.sha256);
            if (!is_new && there->second != member.sha256) there->second.clear();
        }
    }
    std::erase_if(hashes, [](const auto& one) { return one.second.empty(); });
    while (hashes.size() > max_library_hashes)
        hashes.erase(std::prev(hashes.end()));
    return hashes;
}

void gather_libraries(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                      const RequiredLibraries& required, Facts& facts) {
    std::set<std::string> external;
    std::map<std::string_view, std::set<std::string>> by_kind;
    std::set<std::string> libc;
    for (const ElfMember& member : elves) {
        for (const std::string_view name : c_libraries(member))
            libc.emplace(name);
        for (const std::string& library : member.elf.needed) {
            const bool inside = provided.has(library);
            if (!inside) external.insert(library);
            const bool is_unknown = !inside && library_kind(library) == LibraryKind::unknown;
            const bool is_required = is_unknown && !required.project_of(library).empty();
            by_kind[inside        ? provided.finds(member, library) ? "inside" : "unfound"
                    : is_required ? "project"
                                  : library_kind_text(library)]
                .insert(library);
        }
    }
    for (const auto& [kind, libraries] : by_kind)
        facts.needed[std::string(kind)] = texts_of(libraries);
    facts.needed_external = texts_of(external);
    facts.libc = texts_of(libc);
    facts.provides = libraries_for_others(elves);
    facts.library_sha256 = library_hashes(elves, facts);
}

VersionFloors gather_floors(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided) {
    VersionFloors floors;
    for (const ElfMember& member : elves) {
        for (const ElfVersionNeed& need : member.elf.version_needs) {
            const auto version = parse_symbol_version(need.version);
            if (!version || provided.has(need.file, *version))
                continue;  // a library in the wheel provides it
            const auto is_floor = [&](const FloorPrefix& row) {
                return row.prefix == version->prefix && need.file.starts_with(row.library);
            };
            if (std::none_of(std::begin(floor_prefixes), std::end(floor_prefixes), is_floor)) continue;
            auto& highest = floors[version->prefix];
            highest = std::max(highest, version->numbers);
        }
    }
    return floors;
}

// The newest glibc 2.N whose manylinux tag does not guarantee an imported symbol; 0: all are guaranteed.
constexpr int every_minor = 1'000'000;
int newest_minor_without_guarantee(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided) {
    int newest = 0;
    for (const ElfMember& member : elves) {
        const auto& needed = member.elf.needed;
        const auto& needs = member.elf.version_needs;
        if (member.elf.symbols.needs_fpectl || std::any_of(needs.begin(), needs.end(), is_private_to_glibc))
            return every_minor;
        for (const std::string& name : member.elf.symbols.private_imports) {
            for (const PrivateSymbol& row : private_symbols(name)) {
                if (!provided.has(row.library) &&
                    std::find(needed.begin(), needed.end(), row.library) != needed.end())
                    newest = std::max(newest, row.last_glibc_minor);
            }
        }
    }
    return newest;
}

// The tag that fits, if there is one machine and one C library, and the table knows both.
void set_fit(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
             const VersionFloors& floors, const std::set<std::string>& machines, Facts& facts) {
    if (machines.size() != 1 || !is_known_machine(*machines.begin())) return;
    const auto has = [&](std::string_view name) {
        return std::find(facts.libc.begin(), facts.libc.end(), name) != facts.libc.end();
    };
    if (has("bionic")) return;
    const std::string& machine = *machines.begin();
    if (has("musl"))
        facts.musllinux_fit = newest_musllinux(facts.needed_external, machine);
    else
        facts.manylinux_fit = min_manylinux(floors, facts.needed_external, machine,
                                            newest_minor_without_guarantee(elves, provided));
}

void gather_search_paths(const std::vector<ElfMember>& elves, Facts& facts) {
    std::set<std::string> paths;
    std::set<std::string> modules;
    for (const ElfMember& member : elves) {
        for (const std::string& path : member.elf.search_paths) {
            if (after_origin(path)) continue;
            paths.insert(path.empty() ? "." : path);  // an empty element is the current directory
            if (std::string module = module_of_path(path); !module.empty()) modules.insert(std::move(module));
        }
    }
    facts.search_paths = texts_of(paths);
    facts.modules = texts_of(modules);
}

void gather_python(const std::vector<ElfMember>& elves, Facts& facts) {
    unsigned highest = 0;
    for (const ElfMember& member : elves) {
        const PythonImports& python = member.elf.symbols.python;
        if (!python.outside.empty()) return;
        highest = std::max(highest, python.stable_since);
    }
    if (highest != 0) facts.stable_abi_floor = "3." + std::to_string(highest);
}

void gather_cxx(const std::vector<ElfMember>& elves, Facts& facts) {
    std::set<StringAbi> found;
    std::map<std::string, TorchImports> builds;
    for (const ElfMember& member : elves) {
        if (const StringAbi abi = member.elf.symbols.string_abi(); abi != StringAbi::unknown)
            found.insert(abi);
        const TorchImports& imports = member.elf.symbols.torch;
        const auto [build, is_first] = builds.try_emplace(name_for_any_torch(member.name), imports);
        if (!is_first) build->second.add_alternative(imports);
    }
    TorchImports torch;
    for (const auto& [name, imports] : builds)
        torch.add(imports);
    if (!found.empty()) facts.cxx11_abi = known_abi(found.size() == 1 ? *found.begin() : StringAbi::mixed);
    facts.torch_cxx11_abi = known_abi(torch.strings.abi());
    if (torch.count > 0) facts.torch_stable_abi = torch.outside_stable == 0 ? "true" : "false";
    if (torch.at_least.known()) facts.torch_at_least = torch.at_least.text();
    if (torch.below.known()) facts.torch_below = torch.below.text();
}

void gather_notes(const std::vector<ElfMember>& elves, Facts& facts) {
    struct Feature {
        std::string_view name;
        bool FeatureNotes::*noted;
    };
    static constexpr Feature features[] = {{"ibt", &FeatureNotes::x86_ibt},
                                           {"shstk", &FeatureNotes::x86_shstk},
                                           {"bti", &FeatureNotes::arm_bti},
                                           {"pac", &FeatureNotes::arm_pac},
                                           {"gcs", &FeatureNotes::arm_gcs}};
    unsigned needed = 0;
    unsigned used = 0;
    for (const ElfMember& member : elves) {
        needed = std::max(needed, member.elf.notes.x86_needed);
        used = std::max(used, member.elf.notes.x86_used);
        facts.elf_bytes += member.elf.file_bytes;
        facts.debug_bytes += member.elf.debug_bytes;
    }
    facts.isa_needed = isa_text(needed);
    facts.isa_used = isa_text(used);
    const auto is_host = [](const ElfMember& member) { return !member.elf.is_device; };
    if (std::none_of(elves.begin(), elves.end(), is_host)) return;
    for (const Feature& feature : features) {
        const bool everywhere = std::all_of(elves.begin(), elves.end(), [&](const ElfMember& member) {
            return !is_host(member) || member.elf.notes.*feature.noted;
        });
        if (everywhere) facts.cpu_features.emplace_back(feature.name);
    }
}

}  // namespace

ProvidedLibraries::ProvidedLibraries(const std::vector<ElfMember>& elves)
    : unfound_(unfound_libraries(elves)) {
    for (const ElfMember& member : elves) {
        names_.emplace(base::base_name(member.name));
        if (!member.elf.soname.empty()) names_.insert(member.elf.soname);
    }
}

bool ProvidedLibraries::has(std::string_view library) const {
    if (is_path_outside(library)) return false;
    const std::string_view name = base::base_name(library);
    return names_.count(name) != 0 && !is_part_of_glibc(name);
}

bool ProvidedLibraries::has(std::string_view library, const SymbolVersion& version) const {
    return version.prefix != "GLIBC" && has(library);
}

void leave_out_other_python_names(std::vector<ElfMember>& elves, const ProvidedLibraries& provided) {
    std::set<std::string, std::less<>> own;
    for (ElfMember& member : elves) {
        auto& exported = member.elf.symbols.python.exported;
        own.insert(std::make_move_iterator(exported.begin()), std::make_move_iterator(exported.end()));
        exported.clear();
    }
    for (ElfMember& member : elves) {
        auto& outside = member.elf.symbols.python.outside;
        std::erase_if(outside, [&](const std::string& name) { return own.count(name) != 0; });
        const auto is_of_other_wheel = [&](const std::string& library) {
            return library.find(".abi3.so") != std::string::npos && !provided.has(library);
        };
        if (std::any_of(member.elf.needed.begin(), member.elf.needed.end(), is_of_other_wheel))
            outside.clear();
    }
}

void gather_elf_facts(const std::vector<ElfMember>& elves, const ProvidedLibraries& provided,
                      const RequiredLibraries& required, Facts& facts) {
    std::set<std::string> machines;
    std::set<std::string> host_machines;
    for (const ElfMember& member : elves) {
        ++facts.elf_files;
        machines.insert(member.elf.machine);
        if (!member.elf.is_device) host_machines.insert(member.elf.machine);
    }
    facts.machines = texts_of(machines);
    gather_libraries(elves, provided, required, facts);
    const VersionFloors floors = gather_floors(elves, provided);
    for (const auto& [prefix, numbers] : floors)
        facts.symbol_floors[prefix] = dotted(numbers);
    set_fit(elves, provided, floors, host_machines, facts);
    gather_search_paths(elves, facts);
    gather_python(elves, facts);
    gather_cxx(elves, facts);
    gather_notes(elves, facts);
}

std::vector<std::string> torch_requirements(const std::vector<std::string>& requires_dist) {
    std::vector<std::string> found;
    for (const std::string& line : requires_dist) {
        const std::string name = line.substr(0, line.find_first_of(" \t(<>=!~;["));
        if (wheel::normalize_name(name) == "torch") found.push_back(line);
    }
    return found;
}

namespace {

constexpr std::size_t max_provided_libraries = 256;  // impi-rt has 40

using Texts = std::span<const std::string_view>;
// Libraries and the projects that have them or require one that does; prefixes of their names.
struct Family {
    Texts libraries;
    Texts projects;
};
// RAPIDS 26.10: librmm-cu12, libraft-cu12, libcuvs-cu12, libkvikio-cu12, libucxx-cu12, rapids-logger have
// these libraries, and rmm-cu12, pylibraft-cu12, cuvs-cu12, pylibcudf-cu12, cugraph-cu12, ucxx-cu12 need
// them.
constexpr std::string_view rapids_libraries[] = {
    "librapids_logger.so", "librmm.so", "libcudf.so", "libraft.so", "libcuvs",
    "libkvikio.so",        "libucxx",   "libcugraph", "libcuml"};
constexpr std::string_view rapids_projects[] = {
    "rapids-logger", "librmm",  "rmm-",      "libcudf", "pylibcudf",  "cudf-",        "libraft",
    "pylibraft",     "libcuvs", "libkvikio", "libucxx", "libcugraph", "pylibcugraph", "libcuml"};
// umf 1.2; intel-cmplr-lib-ur 2026.2 needs it.
constexpr std::string_view umf_libraries[] = {"libumf.so"};
constexpr std::string_view umf_projects[] = {"umf", "intel-cmplr-lib-ur", "intel-sycl-rt", "dpcpp-cpp-rt"};
// tcmlib 1.6; tbb 2023.2 and umf 1.2 need it.
constexpr std::string_view hwloc_libraries[] = {"libhwloc.so"};
constexpr std::string_view hwloc_projects[] = {"tcmlib", "tbb", "umf"};
// intel-cmplr-lib-rt 2026.2; intel-sycl-rt 2026.2 needs it.
constexpr std::string_view xpti_libraries[] = {"libxptifw.so"};
constexpr std::string_view xpti_projects[] = {"intel-cmplr-lib-rt", "intel-sycl-rt", "dpcpp-cpp-rt"};
// dpctl 0.22.1; dpnp 0.20 needs it.
constexpr std::string_view dpctl_libraries[] = {"libDPCTLSyclInterface.so"};
constexpr std::string_view dpctl_projects[] = {"dpctl"};

constexpr Family families[] = {{rapids_libraries, rapids_projects},
                               {umf_libraries, umf_projects},
                               {hwloc_libraries, hwloc_projects},
                               {xpti_libraries, xpti_projects},
                               {dpctl_libraries, dpctl_projects}};

bool is_of(Texts prefixes, std::string_view name) {
    return std::any_of(prefixes.begin(), prefixes.end(),
                       [name](std::string_view prefix) { return name.starts_with(prefix); });
}

}  // namespace

bool is_of_an_extra(const wheel::Requirement& requirement) {
    return requirement.marker && requirement.marker->text().find("extra") != std::string::npos;
}

RequiredLibraries::RequiredLibraries(const std::vector<std::string>& requires_dist, LibrariesOf libraries_of)
    : libraries_of_(std::move(libraries_of)) {
    std::set<std::string> seen;
    for (const std::string& line : requires_dist) {
        if (projects_.size() == max_required_projects) break;
        const auto requirement = wheel::Requirement::parse(line);
        if (!requirement || is_of_an_extra(*requirement)) continue;
        if (seen.insert(requirement->project).second) projects_.push_back(requirement->project);
    }
    for (const Family& family : families) {
        const auto named = std::find_if(projects_.begin(), projects_.end(), [&](const std::string& project) {
            return is_of(family.projects, project);
        });
        family_projects_.push_back(named == projects_.end() ? std::string() : *named);
    }
}

std::string RequiredLibraries::project_of(std::string_view path) const {
    if (is_path_outside(path) || projects_.empty()) return {};
    const std::string_view library = base::base_name(path);
    auto known = known_.find(library);
    while (libraries_of_ && known == known_.end() && asked_ < projects_.size()) {
        const std::string& project = projects_[asked_++];
        for (const std::string& name : libraries_of_(project))
            known_.emplace(name, project);
        known = known_.find(library);
    }
    if (known != known_.end()) return known->second;
    const auto* const family =
        std::find_if(std::begin(families), std::end(families),
                     [library](const Family& row) { return is_of(row.libraries, library); });
    if (family == std::end(families)) return {};
    return family_projects_[static_cast<std::size_t>(family - std::begin(families))];
}

std::vector<std::string> libraries_for_others(const std::vector<ElfMember>& elves) {
    std::set<std::string> names;
    for (const ElfMember& member : elves) {
        const std::string_view file = base::base_name(member.name);
        const bool is_library = member.elf.kind == ElfKind::shared && !member.elf.is_device &&
                                file.starts_with("lib") && file.find(".so") != std::string_view::npos;
        if (!is_library || module_suffix(member.name).has_value()) continue;
        names.insert(member.elf.soname.empty() ? std::string(file) : member.elf.soname);
        if (names.size() == max_provided_libraries) break;
    }
    return {names.begin(), names.end()};
}

}  // namespace wheelyard::inspect
