#include "lib/inspect/truth/gpu_truth.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "lib/base/text/text.hpp"
#include "lib/inspect/truth/libraries.hpp"

namespace wheelyard::inspect {
namespace {

constexpr std::string_view sm_prefix = "sm_", ptx_prefix = "compute_", gfx_prefix = "gfx";
constexpr std::string_view spirv = "amdgcnspirv";

// --- the local version ---

bool has_cuda(const Facts& facts) {
    return !facts.cuda_sm.empty() || !facts.cuda_ptx.empty();
}
bool has_hip(const Facts& facts) {
    return !facts.hip_gfx.empty();
}

struct GpuPromise {
    std::vector<std::string_view> words;  // in the local version, followed by a number
    std::string_view what;
    bool (*has_code)(const Facts&);
    LibraryKind kind;
    std::vector<std::string_view>
        other_libraries;  // prefixes: torch's own, Cray MPICH's GPU transport layers
};

const std::vector<GpuPromise>& gpu_promises() {
    static const std::vector<GpuPromise> table = {
        {{"cu", "cuda"},
         "CUDA code or a dependency on a CUDA library",
         has_cuda,
         LibraryKind::cuda,
         {"libc10_cuda", "libtorch_cuda", "libmpi_gtl_cuda"}},
        {{"rocm"},
         "HIP code or a dependency on a ROCm library",
         has_hip,
         LibraryKind::rocm,
         {"libc10_hip", "libtorch_hip", "libmpi_gtl_hsa"}},
    };
    return table;
}

// Matches "cu" in "cu126", "pt24cu121" and "2.cu126", but not in "circus12" and "cute": no letter before the
// word, a digit after it.
bool names_word(std::string_view local, std::string_view word) {
    for (auto at = local.find(word); at != std::string_view::npos; at = local.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool starts = at == 0 || !base::is_ascii_alpha(local[at - 1]);
        if (starts && end < local.size() && base::is_ascii_digit(local[end])) return true;
    }
    return false;
}

bool needs_library_of(const ElfMember& member, const GpuPromise& promise) {
    return std::any_of(member.elf.needed.begin(), member.elf.needed.end(), [&](const std::string& library) {
        return library_kind(library) == promise.kind ||
               std::any_of(promise.other_libraries.begin(), promise.other_libraries.end(),
                           [&](std::string_view prefix) { return library.starts_with(prefix); });
    });
}

// Reports code that was not found: it is missing, or in a part that could not be read. One unreadable section
// never waives the rule, since it costs an attacker only a few bytes.
void add_missing(std::string_view rule, const std::string& expected, const std::string& found,
                 bool all_was_read, Findings& findings) {
    findings.add(all_was_read ? rule : "gpu.unproven", {}, expected, found);
}

void check_promises(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                    const Facts& facts, bool all_was_read, Findings& findings) {
    const std::string local = filename.version.local_text();
    for (const GpuPromise& promise : gpu_promises()) {
        const bool named = std::any_of(promise.words.begin(), promise.words.end(),
                                       [&](std::string_view word) { return names_word(local, word); });
        if (!named || elves.empty() || promise.has_code(facts)) continue;
        const bool satisfied = std::any_of(elves.begin(), elves.end(), [&](const ElfMember& member) {
            return member.elf.is_device || needs_library_of(member, promise);
        });
        if (!satisfied)
            add_missing("gpu.promised_not_there", std::string(promise.what) + ", as in +" + local,
                        all_was_read ? "none" : "none readable", all_was_read, findings);
    }
}

// --- the policy's architectures ---

// "sm_90a" → {90, 'a'}; the letter is 0 if there is none.
struct CudaArch {
    std::uint64_t number = 0;
    char letter = 0;
};
std::optional<CudaArch> parse_cuda(std::string_view text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return std::nullopt;
    text.remove_prefix(prefix.size());
    CudaArch arch;
    if (text.ends_with('a') || text.ends_with('f')) {
        arch.letter = text.back();
        text.remove_suffix(1);
    }
    const auto number = base::parse_decimal(text);
    if (!number) return std::nullopt;
    arch.number = *number;
    return arch;
}

bool cuda_runs_on(std::string_view code, std::string_view prefix, std::uint64_t machine) {
    const auto arch = parse_cuda(code, prefix);
    if (!arch || arch->number > machine) return false;
    if (arch->letter == 'a') return arch->number == machine;
    const bool same_major = arch->number / 10 == machine / 10;
    return same_major || (prefix == ptx_prefix && arch->letter == 0);
}

// Source: LLVM's AMDGPU usage, "Generic processors".
struct GenericProcessor {
    std::string_view name;
    std::vector<std::string_view> machines;
};
const std::vector<GenericProcessor>& generic_processors() {
    static const std::vector<GenericProcessor> table = {
        {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
        {"gfx9-4-generic", {"gfx940", "gfx941", "gfx942", "gfx950"}},
        {"gfx10-1-generic", {"gfx1010", "gfx1011", "gfx1012", "gfx1013"}},
        {"gfx10-3-generic", {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
        {"gfx11-generic",
         {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
        {"gfx12-generic", {"gfx1200", "gfx1201"}},
    };
    return table;
}

// Compares the processor, then the features that the code was compiled for or the machine is set to. A
// feature that one side does not mention matches.
bool hip_runs_on(std::string_view code, std::string_view machine) {
    if (code == spirv) return true;
    const auto wanted = base::split(code, ':');
    const auto present = base::split(machine, ':');
    if (wanted.front() != present.front()) {
        const auto& table = generic_processors();
        const auto row = std::find_if(table.begin(), table.end(), [&](const GenericProcessor& generic) {
            return generic.name == wanted.front();
        });
        if (row == table.end() ||
            std::find(row->machines.begin(), row->machines.end(), present.front()) == row->machines.end())
            return false;
    }
    return std::none_of(wanted.begin() + 1, wanted.end(), [&](std::string_view feature) {
        std::string opposite(feature);
        if (opposite.empty()) return true;
        opposite.back() = opposite.back() == '+' ? '-' : '+';
        return std::find(present.begin() + 1, present.end(), opposite) != present.end();
    });
}

void check_architectures(const Facts& facts, const Policy& policy, bool all_was_read, Findings& findings) {
    if (all_was_read && !has_cuda(facts) && !has_hip(facts)) return;
    const auto has_code_of_vendor = [&](std::string_view architecture) {
        return architecture.starts_with(gfx_prefix) ? has_hip(facts) : has_cuda(facts);
    };
    const auto& named = policy.gpu_architectures;
    const bool any_vendor = std::any_of(named.begin(), named.end(), has_code_of_vendor);
    for (const std::string& architecture : named) {
        if ((any_vendor && !has_code_of_vendor(architecture)) || runs_on(facts, architecture)) continue;
        std::vector<std::string> found;
        for (const auto* list : {&facts.cuda_sm, &facts.cuda_ptx, &facts.hip_gfx})
            found.insert(found.end(), list->begin(), list->end());
        if (found.empty()) found.emplace_back("none readable");
        add_missing("gpu.architecture_missing",
                    "code that runs on " + architecture + ", as the index's policy requires",
                    base::join(found, " "), all_was_read, findings);
    }
}

}  // namespace

bool is_gpu_architecture(std::string_view text) {
    if (const auto arch = parse_cuda(text, sm_prefix)) return arch->letter == 0 && arch->number >= 10;
    if (!text.starts_with(gfx_prefix)) return false;
    const auto parts = base::split(text, ':');
    const std::string_view processor = parts.front().substr(gfx_prefix.size());
    return processor.size() >= 3 &&
           std::all_of(processor.begin(), processor.end(),
                       [](char c) { return base::is_ascii_digit(c) || (c >= 'a' && c <= 'f'); }) &&
           std::all_of(parts.begin() + 1, parts.end(), [](std::string_view feature) {
               return feature == "xnack+" || feature == "xnack-" || feature == "sramecc+" ||
                      feature == "sramecc-";
           });
}

bool runs_on(const Facts& facts, std::string_view architecture) {
    if (architecture.starts_with(gfx_prefix)) {
        return std::any_of(facts.hip_gfx.begin(), facts.hip_gfx.end(),
                           [&](const std::string& code) { return hip_runs_on(code, architecture); });
    }
    const auto machine = parse_cuda(architecture, sm_prefix);
    if (!machine) return false;
    const auto fits = [&](std::string_view prefix) {
        return [prefix, number = machine->number](const std::string& code) {
            return cuda_runs_on(code, prefix, number);
        };
    };
    return std::any_of(facts.cuda_sm.begin(), facts.cuda_sm.end(), fits(sm_prefix)) ||
           std::any_of(facts.cuda_ptx.begin(), facts.cuda_ptx.end(), fits(ptx_prefix));
}

void check_gpu_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                     const Facts& facts, const Policy& policy, Findings& findings) {
    const bool all_was_read = !findings.has("gpu.compressed") && !findings.has("gpu.malformed");
    check_promises(elves, filename, facts, all_was_read, findings);
    check_architectures(facts, policy, all_was_read, findings);
}

}  // namespace wheelyard::inspect
