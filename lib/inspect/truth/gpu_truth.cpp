// Compares the GPU promises of the file name and of the index's policy with the device code in the wheel.
//
// A local version such as `+cu126`, `+cuda12.cudnn89`, `+pt24cu121` or `+rocm6.2` promises a GPU platform.
// Device code for it, a dependency on one of its libraries (a wheel may only call cuBLAS) or a bare device
// object satisfies the promise. Wheels without ELF files are exempt: pure companion packages share the local
// version of the package that they belong to.
//
// A policy's gpu_architectures lists the GPUs of the index's machines. A wheel with device code must run on
// every listed GPU of a vendor that it has code for, and on at least one. A wheel without device code runs
// everywhere. Code that is not read (lib/accelerator) is not checked.
#include "lib/inspect/truth/tag_truth.hpp"

#include <algorithm>
#include <string>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::inspect {
namespace {

using accelerator::AcceleratorKind;

bool has_code(const Facts& facts, const AcceleratorKind& kind) {
    return std::any_of(kind.device_code.begin(), kind.device_code.end(),
                       [&](const auto& list) { return !facts.code(list.fact).empty(); });
}

// --- the local version ---

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

bool needs_library_of(const ElfMember& member, const AcceleratorKind& kind) {
    return std::any_of(member.elf.needed.begin(), member.elf.needed.end(), [&](const std::string& library) {
        return accelerator::kind_of_library(library) == &kind ||
               std::any_of(kind.dependents.begin(), kind.dependents.end(),
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
    for (const AcceleratorKind* kind : accelerator::accelerator_kinds()) {
        const bool named = std::any_of(kind->promising_words.begin(), kind->promising_words.end(),
                                       [&](std::string_view word) { return names_word(local, word); });
        if (!named || elves.empty() || has_code(facts, *kind)) continue;
        const bool satisfied = std::any_of(elves.begin(), elves.end(), [&](const ElfMember& member) {
            return member.elf.is_device || needs_library_of(member, *kind);
        });
        if (!satisfied)
            add_missing("gpu.promised_not_there", std::string(kind->promise) + ", as in +" + local,
                        all_was_read ? "none" : "none readable", all_was_read, findings);
    }
}

// --- the policy's architectures ---

void check_architectures(const Facts& facts, const Policy& policy, bool all_was_read, Findings& findings) {
    const auto& named = policy.gpu_architectures;
    const bool has_any =
        std::any_of(accelerator::accelerator_kinds().begin(), accelerator::accelerator_kinds().end(),
                    [&](const auto* kind) { return has_code(facts, *kind); });
    if (all_was_read && !has_any) return;
    const auto has_code_of_vendor = [&](std::string_view architecture) {
        const AcceleratorKind* kind = accelerator::kind_of_architecture(architecture);
        return kind != nullptr && has_code(facts, *kind);
    };
    const bool any_vendor = std::any_of(named.begin(), named.end(), has_code_of_vendor);
    for (const std::string& architecture : named) {
        if ((any_vendor && !has_code_of_vendor(architecture)) || runs_on(facts, architecture)) continue;
        std::vector<std::string> found;
        for (const AcceleratorKind* kind : accelerator::accelerator_kinds()) {
            for (const auto& list : kind->device_code) {
                const auto& names = facts.code(list.fact);
                found.insert(found.end(), names.begin(), names.end());
            }
        }
        if (found.empty()) found.emplace_back("none readable");
        add_missing("gpu.architecture_missing",
                    "code that runs on " + architecture + ", as the index's policy requires",
                    base::join(found, " "), all_was_read, findings);
    }
}

}  // namespace

bool runs_on(const Facts& facts, std::string_view architecture) {
    const AcceleratorKind* kind = accelerator::kind_of_architecture(architecture);
    if (kind == nullptr) return false;
    return std::any_of(kind->device_code.begin(), kind->device_code.end(), [&](const auto& list) {
        const auto& names = facts.code(list.fact);
        return std::any_of(names.begin(), names.end(),
                           [&](const std::string& code) { return list.runs(code, architecture); });
    });
}

void check_gpu_truth(const std::vector<ElfMember>& elves, const wheel::WheelFilename& filename,
                     const Facts& facts, const Policy& policy, Findings& findings) {
    const bool all_was_read =
        !findings.has("gpu.compressed") && !findings.has("gpu.malformed") && !findings.has("gpu.not_read");
    check_promises(elves, filename, facts, all_was_read, findings);
    check_architectures(facts, policy, all_was_read, findings);
}

}  // namespace wheelyard::inspect
