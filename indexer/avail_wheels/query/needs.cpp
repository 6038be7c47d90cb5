// Derives needs from facts and file names.
#include "indexer/avail_wheels/query/needs.hpp"

#include <algorithm>
#include <string>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

namespace {

using io::Json;

using accelerator::AcceleratorKind;

// Whether ELF files of this machine are not the host's (lib/inspect/elf/elf_identity.cpp).
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

// From "cuda/12.2" or "cudacore/12.2.2".
std::string toolkit_of_modules(const AcceleratorKind& kind, const std::vector<std::string>& modules) {
    const auto& names = kind.toolkit_modules;
    for (const auto& module : modules) {
        const auto slash = module.find('/');
        const auto name = std::string_view(module).substr(0, slash);
        if (slash == std::string::npos || std::find(names.begin(), names.end(), name) == names.end())
            continue;
        auto version = Dotted::parse(std::string_view(module).substr(slash + 1));
        if (!version) continue;
        version->numbers.resize(std::min<std::size_t>(version->numbers.size(), 2));
        return version->text();
    }
    return {};
}

// libcudart.so.12 → 12.
std::string toolkit_of_libraries(const AcceleratorKind& kind, const std::vector<std::string>& libraries) {
    const auto runtime = kind.toolkit_library;
    for (const auto& library : libraries) {
        if (runtime.empty() || !library.starts_with(runtime)) continue;
        const auto version = Dotted::parse(std::string_view(library).substr(runtime.size()));
        return version ? version->text() : std::string();
    }
    return {};
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
            if (one.toolkit.empty()) one.toolkit = toolkit_of_modules(*kind, needs.modules);
            if (one.toolkit.empty())
                one.toolkit = toolkit_of_libraries(*kind, libraries->texts(kind->library_kind));
        }
        if (of_label || !one.toolkit.empty() || one.has_code()) needs.gpus.push_back(std::move(one));
    }
}

void add_facts(Needs& needs, const Json& facts) {
    needs.proven = true;
    auto machines = facts.texts("machines");
    // Code for a device says nothing of the host.
    std::erase_if(machines, [](const std::string& machine) { return is_device_machine(machine); });
    if (!machines.empty()) needs.machines = std::move(machines);
    if (const auto* floors = facts.find("symbol_floors")) {
        const auto proven = Dotted::parse(floors->string_or("GLIBC", {}));
        if (proven && (!needs.glibc || *needs.glibc < *proven)) needs.glibc = proven;
    }
    needs.cpu = facts.string_or("isa_needed", {});
    needs.modules = facts.texts("modules");
    if (const auto* libraries = facts.find("needed")) needs.mpi = libraries->texts("mpi");
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
        add_facts(needs, *facts);
        needs.cpu = std::max(needs.cpu, folder_level);
    }
    add_gpus(needs, candidate, facts ? *facts : Json::object());
    return needs;
}

std::vector<std::string> modules_of(const Candidate& candidate) {
    if (candidate.facts.empty()) return {};
    const auto facts = io::parse_json(candidate.facts);
    return facts ? facts->texts("modules") : std::vector<std::string>{};
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
