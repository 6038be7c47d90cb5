// Derives needs from facts and file names.
#include "indexer/avail_wheels/query/needs.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <string>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

namespace {

using io::Json;

// Machines of ELF files that are not the host's (lib/inspect/elf/elf_identity.cpp).
const std::set<std::string, std::less<>> device_machines{"cuda", "amdgpu", "bpf"};

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

// "cu126" → 12.6, "cu118" → 11.8, "cuda12" → 12: labels of torch, jax and others.
std::optional<Dotted> cuda_of_label(std::string_view label) {
    for (const std::string_view start : {"cuda", "cu"}) {
        if (!label.starts_with(start)) continue;
        const auto digits = label.substr(start.size());
        const auto number = base::parse_decimal(digits);
        if (!number) return std::nullopt;
        if (digits.size() <= 2) return Dotted{{static_cast<int>(*number)}};
        constexpr std::size_t max_label = 4;
        if (digits.size() > max_label) return std::nullopt;
        return Dotted{{static_cast<int>(*number / 10), static_cast<int>(*number % 10)}};
    }
    return std::nullopt;
}

void add_label(Needs& needs, const Candidate& candidate) {
    const std::string local = candidate.release->version.local_text();
    for (const auto part : base::split(local, '.')) {
        if (!needs.cuda) needs.cuda = cuda_of_label(part);
    }
    constexpr std::string_view rocm = "rocm";
    if (local.starts_with(rocm)) needs.rocm = local.substr(rocm.size());
}

// From "cuda/12.2" or "cudacore/12.2.2". "nvhpc/23.9" does not determine a CUDA version.
std::optional<Dotted> cuda_of_modules(const std::vector<std::string>& modules) {
    for (const auto& module : modules) {
        const auto slash = module.find('/');
        const auto name = std::string_view(module).substr(0, slash);
        if (slash == std::string::npos || (name != "cuda" && name != "cudacore" && name != "cudatoolkit"))
            continue;
        auto version = Dotted::parse(std::string_view(module).substr(slash + 1));
        if (!version) continue;
        version->numbers.resize(std::min<std::size_t>(version->numbers.size(), 2));
        return version;
    }
    return std::nullopt;
}

// libcudart.so.12 → 12. Other libraries (libcudnn.so.9, libcufft.so.11) have version numbers of their own.
std::optional<Dotted> cuda_of_libraries(const std::vector<std::string>& libraries) {
    constexpr std::string_view runtime = "libcudart.so.";
    for (const auto& library : libraries) {
        if (library.starts_with(runtime))
            return Dotted::parse(std::string_view(library).substr(runtime.size()));
    }
    return std::nullopt;
}

void add_facts(Needs& needs, const Json& facts) {
    needs.proven = true;
    auto machines = facts.texts("machines");
    // Code for a device says nothing of the host.
    std::erase_if(machines, [](const std::string& machine) { return device_machines.contains(machine); });
    if (!machines.empty()) needs.machines = std::move(machines);
    if (const auto* floors = facts.find("symbol_floors")) {
        const auto proven = Dotted::parse(floors->string_or("GLIBC", {}));
        if (proven && (!needs.glibc || *needs.glibc < *proven)) needs.glibc = proven;
    }
    needs.cpu = facts.string_or("isa_needed", {});
    needs.cubins = facts.texts("cuda_sm");
    needs.ptx = facts.texts("cuda_ptx");
    needs.gfx = facts.texts("hip_gfx");
    needs.modules = facts.texts("modules");
    if (const auto* libraries = facts.find("needed")) {
        needs.mpi = libraries->texts("mpi");
        if (!needs.cuda) needs.cuda = cuda_of_modules(needs.modules);
        if (!needs.cuda) needs.cuda = cuda_of_libraries(libraries->texts("cuda"));
    }
}

}  // namespace

Needs needs_of(const Candidate& candidate) {
    Needs needs;
    add_platforms(needs, candidate);
    add_label(needs, candidate);
    needs.cpu = level_of_folder(candidate.arch);
    if (candidate.facts.empty()) return needs;
    const auto facts = io::parse_json(candidate.facts);
    if (facts) {
        const std::string folder_level = needs.cpu;
        add_facts(needs, *facts);
        needs.cpu = std::max(needs.cpu, folder_level);
    }
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
