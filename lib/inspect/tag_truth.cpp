#include "lib/inspect/tag_truth.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "lib/base/text.hpp"

namespace wheelyard::inspect {
namespace {

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

// "GLIBC_2.17" → {"GLIBC", {2, 17}}; nothing for names that are no versions ("GLIBC_PRIVATE",
// "GLIBC_ABI_DT_RELR").
struct SymbolVersion {
    std::string prefix;
    std::vector<std::uint64_t> numbers;
};
std::optional<SymbolVersion> parse_symbol_version(std::string_view text) {
    const auto underscore = text.rfind('_');
    if (underscore == std::string_view::npos) return std::nullopt;
    SymbolVersion version{std::string(text.substr(0, underscore)), {}};
    for (const std::string_view part : base::split(text.substr(underscore + 1), '.')) {
        const auto number = base::parse_decimal(part);
        if (!number) return std::nullopt;
        version.numbers.push_back(*number);
    }
    return version;
}

std::string dotted(const std::vector<std::uint64_t>& numbers) {
    std::vector<std::string> parts;
    for (const auto number : numbers)
        parts.push_back(std::to_string(number));
    return base::join(parts, ".");
}

constexpr std::string_view floor_prefixes[] = {"GLIBC", "GLIBCXX", "CXXABI", "GCC"};

bool is_host_code(const ElfMember& member) {
    return !member.elf.is_device;
}

struct Promise {
    std::set<std::string> machines;                       // of linux, manylinux and musllinux tags
    std::optional<std::pair<int, int>> lowest_manylinux;  // glibc that must be enough
    std::string lowest_manylinux_tag;
    bool musllinux = false;
    bool manylinux = false;
    bool linux = false;  // any of the three kinds
    bool other = false;  // Windows, macOS …
    bool any = false;
};

Promise read_promise(const wheel::WheelFilename& filename) {
    Promise promise;
    for (const std::string& text : filename.platforms) {
        const wheel::Platform platform = wheel::parse_platform(text);
        if (platform.kind == wheel::PlatformKind::any) promise.any = true;
        if (platform.kind == wheel::PlatformKind::other) promise.other = true;
        if (platform.kind == wheel::PlatformKind::any || platform.kind == wheel::PlatformKind::other)
            continue;
        promise.linux = true;
        promise.machines.insert(platform.machine);
        promise.musllinux = promise.musllinux || platform.kind == wheel::PlatformKind::musllinux;
        if (platform.kind != wheel::PlatformKind::manylinux) continue;
        promise.manylinux = true;
        const std::pair glibc{platform.libc_major, platform.libc_minor};
        if (!promise.lowest_manylinux || glibc < *promise.lowest_manylinux) {
            promise.lowest_manylinux = glibc;
            promise.lowest_manylinux_tag = text;
        }
    }
    return promise;
}

void check_presence(const std::vector<ElfMember>& elves, const Promise& promise, bool purelib,
                    Findings& findings) {
    const auto host = std::find_if(elves.begin(), elves.end(), is_host_code);
    if (host == elves.end()) {
        if (promise.linux)
            findings.add("tag.platform_without_elf", {}, "an ELF file, as the platform tag says", "none");
        return;
    }
    if (promise.any)
        findings.add("tag.any_with_elf", host->name, "no compiled code, as the tag `any` says",
                     host->elf.machine);
    if (purelib) findings.add("tag.purelib_with_elf", host->name, "Root-Is-Purelib: false", "true");
}

void check_machine(const ElfMember& member, const Promise& promise, Findings& findings) {
    if (!promise.linux || member.elf.kind == ElfKind::other) return;
    const std::vector<std::string> machines(promise.machines.begin(), promise.machines.end());
    const std::string expected = base::join(machines, " or ");
    if (promise.machines.count(member.elf.machine) == 0) {
        findings.add("elf.machine_mismatch", member.name, expected, member.elf.machine);
        return;
    }
    // armv7l tags mean the hard-float ABI (PEP 599 and 600 builds are armhf): EF_ARM_ABI_FLOAT_SOFT
    // contradicts it.
    constexpr std::uint32_t arm_soft_float = 0x200;
    if (member.elf.machine == "armv7l" && (member.elf.flags & arm_soft_float) != 0) {
        findings.add("elf.machine_mismatch", member.name, expected + " with hard float", "soft float");
    }
}

void check_libc(const ElfMember& member, const Promise& promise, Findings& findings) {
    if (promise.lowest_manylinux) {
        const std::vector<std::uint64_t> allowed = {
            static_cast<std::uint64_t>(promise.lowest_manylinux->first),
            static_cast<std::uint64_t>(promise.lowest_manylinux->second)};
        std::vector<std::uint64_t> highest;
        for (const auto& need : member.elf.version_needs) {
            const auto version = parse_symbol_version(need.version);
            if (version && version->prefix == "GLIBC") highest = std::max(highest, version->numbers);
        }
        if (highest > allowed) {
            findings.add(
                "elf.glibc_above_policy", member.name,
                "at most GLIBC_" + dotted(allowed) + ", as " + promise.lowest_manylinux_tag + " says",
                "GLIBC_" + dotted(highest));
        }
    }
    for (const std::string& library : member.elf.needed) {
        const bool is_musl = library.starts_with("libc.musl-");
        const bool is_glibc = library == "libc.so.6";
        if (promise.manylinux && !promise.musllinux && is_musl) {
            findings.add("elf.libc_mismatch", member.name, "glibc, as the manylinux tag says", library);
        }
        if (promise.musllinux && !promise.manylinux && is_glibc) {
            findings.add("elf.libc_mismatch", member.name, "musl, as the musllinux tag says", library);
        }
    }
}

// "x.cpython-312-aarch64-linux-gnu.so" imports into CPython 3.12 only. Judged where every tag is for one
// CPython: other wheels may carry modules for several.
void check_python_suffix(const ElfMember& member, const wheel::WheelFilename& filename, Findings& findings) {
    constexpr std::string_view marker = ".cpython-";
    const std::string_view file = base_name(member.name);
    const auto at = file.find(marker);
    if (at == std::string_view::npos || !file.ends_with(".so")) return;
    const std::string_view rest = file.substr(at + marker.size());
    const std::string_view digits = rest.substr(0, rest.find_first_of("-."));
    const std::string found = "cp" + std::string(digits);  // "cp312", "cp313t"
    std::set<std::string> abis;
    for (const auto& tag : filename.tags) {
        if (!tag.abi.starts_with("cp")) return;
        abis.insert(tag.abi);
    }
    if (abis.count(found) != 0 || abis.count(found + "m") != 0) return;
    findings.add("elf.python_mismatch", member.name, base::join({abis.begin(), abis.end()}, " or "), found);
}

bool is_under(std::string_view path, std::string_view prefix) {
    while (prefix.ends_with('/'))
        prefix.remove_suffix(1);
    return path.starts_with(prefix) && (path.size() == prefix.size() || path[prefix.size()] == '/');
}

void check_search_paths(const ElfMember& member, const Policy& policy, Findings& findings) {
    for (const std::string& path : member.elf.search_paths) {
        if (path.empty() || path.starts_with("$ORIGIN") || path.starts_with("${ORIGIN}")) continue;
        const bool allowed =
            path.find("..") == std::string::npos &&
            std::any_of(policy.search_path_prefixes.begin(), policy.search_path_prefixes.end(),
                        [&](const std::string& prefix) { return is_under(path, prefix); });
        if (!allowed)
            findings.add("elf.search_path", member.name, "$ORIGIN, or a prefix that the index's policy names",
                         path);
    }
}

// A local version that names a GPU platform, its evidence in facts, and libraries that only make sense with
// it.
struct GpuPromise {
    std::string_view local_prefix;  // "cu" of "cu126"
    std::string_view what;
    bool (*has_code)(const Facts&);
    std::vector<std::string_view> libraries;  // beginnings of DT_NEEDED names
};

const std::vector<GpuPromise>& gpu_promises() {
    static const std::vector<GpuPromise> table = {
        {"cu",
         "CUDA code, or a CUDA library needed",
         [](const Facts& facts) { return !facts.cuda_sm.empty() || !facts.cuda_ptx.empty(); },
         {"libcuda.", "libcudart", "libcublas", "libcudnn", "libcufft", "libcurand", "libcusparse",
          "libcusolver", "libnccl", "libnvrtc", "libnvToolsExt", "libnvshmem", "libc10_cuda",
          "libtorch_cuda"}},
        {"rocm",
         "HIP code, or a ROCm library needed",
         [](const Facts& facts) { return !facts.hip_gfx.empty(); },
         {"libamdhip64", "libhip", "libroc", "librccl", "libMIOpen", "libhsa-runtime", "libc10_hip",
          "libtorch_hip"}},
    };
    return table;
}

void check_gpu_promise(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                       const Facts& facts, bool unread_code, Findings& findings) {
    const std::string local = filename.version.local_text();
    for (const GpuPromise& promise : gpu_promises()) {
        const bool named = local.starts_with(promise.local_prefix) &&
                           local.size() > promise.local_prefix.size() &&
                           base::is_ascii_digit(local[promise.local_prefix.size()]);
        if (!named || elves.empty() || unread_code || promise.has_code(facts)) continue;
        const bool needs_library = std::any_of(elves.begin(), elves.end(), [&](const ElfMember& member) {
            const auto& needed = member.elf.needed;
            return member.elf.is_device ||
                   std::any_of(needed.begin(), needed.end(), [&](const std::string& library) {
                       return std::any_of(
                           promise.libraries.begin(), promise.libraries.end(),
                           [&](std::string_view beginning) { return library.starts_with(beginning); });
                   });
        });
        if (!needs_library)
            findings.add("gpu.promised_not_there", {}, std::string(promise.what) + ", as +" + local + " says",
                         "none");
    }
}

}  // namespace

void gather_elf_facts(const std::vector<ElfMember>& elves, const std::vector<Member>& members, Facts& facts) {
    std::set<std::string_view> inside;
    for (const Member& member : members)
        inside.insert(base_name(member.name));
    for (const ElfMember& member : elves) {
        if (!member.elf.soname.empty()) inside.insert(member.elf.soname);
    }
    std::set<std::string> machines;
    std::set<std::string> external;
    std::map<std::string, std::vector<std::uint64_t>> floors;
    for (const ElfMember& member : elves) {
        ++facts.elf_files;
        machines.insert(member.elf.machine);
        for (const std::string& library : member.elf.needed) {
            if (inside.count(base_name(library)) == 0) external.insert(library);
        }
        for (const ElfVersionNeed& need : member.elf.version_needs) {
            const auto version = parse_symbol_version(need.version);
            if (!version || inside.count(need.file) != 0) continue;  // from a library that comes along
            if (std::find(std::begin(floor_prefixes), std::end(floor_prefixes), version->prefix) ==
                std::end(floor_prefixes))
                continue;
            auto& highest = floors[version->prefix];
            highest = std::max(highest, version->numbers);
        }
    }
    facts.machines.assign(machines.begin(), machines.end());
    facts.needed_external.assign(external.begin(), external.end());
    for (const auto& [prefix, numbers] : floors)
        facts.symbol_floors[prefix] = dotted(numbers);
}

void check_tag_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                     const Facts& facts, const Policy& policy, Findings& findings) {
    const Promise promise = read_promise(filename);
    check_presence(elves, promise, facts.root_is_purelib, findings);
    for (const ElfMember& member : elves) {
        if (!is_host_code(member)) continue;
        check_machine(member, promise, findings);
        check_libc(member, promise, findings);
        check_python_suffix(member, filename, findings);
        check_search_paths(member, policy, findings);
    }
    check_gpu_promise(elves, filename, facts, findings.has("gpu.compressed") || findings.has("gpu.malformed"),
                      findings);
}

}  // namespace wheelyard::inspect
