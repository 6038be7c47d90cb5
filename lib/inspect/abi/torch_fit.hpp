// Judges whether the extensions of a wheel can be loaded with a given torch. The dynamic linker refuses a
// library if one name that it imports is nowhere defined (Python and torch load with RTLD_NOW), if a library
// that it needs is absent, or if it is for another machine. What an extension does after it was loaded, such
// as calling an operator that torch removed, is not judged.
//
//     companion_uses(torchvision's files), torch_exports(torch's files)  →  fits(): no, symbols_missing,
//     "torch 2.8.0 lacks `c10::detail::torchInternalAssertFail` and 13 more of the 165 names that it needs"
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/inspect/elf/torch_abi.hpp"
#include "lib/inspect/truth/facts.hpp"
#include "lib/wheel/filename.hpp"

namespace wheelyard::inspect {

// What both sides have: for which Pythons and machines, and the libraries from outside the wheel.
struct LoadedWith {
    std::vector<wheel::Tag> tags;
    std::set<std::string> machines;
    std::set<std::string> needed;  // DT_NEEDED that the wheel does not have itself
    StringAbi strings = StringAbi::unknown;
    bool is_complete = true;  // every ELF file was read to the end
};

struct TorchExports : LoadedWith {
    std::string version;
    std::vector<std::uint64_t> names;  // torch_name_hash(), sorted, unique
    std::set<std::string> libraries;   // file names and sonames of torch's files
};

struct FileUses {
    std::string name;                // the archive member's
    std::vector<std::string> names;  // of torch's interface, without those that the wheel defines itself
    std::vector<std::string> torch_libraries;
};
struct CompanionUses : LoadedWith {
    std::vector<FileUses> files;  // those that use torch
};

// `elves` are those of an inspection with InspectOptions::torch_names. Error "torch.no_libraries": the wheel
// defines no name of torch's interface.
[[nodiscard]] base::Result<TorchExports> torch_exports(const wheel::WheelFilename& filename,
                                                       const std::vector<ElfMember>& elves);
[[nodiscard]] CompanionUses companion_uses(const wheel::WheelFilename& filename,
                                           const std::vector<ElfMember>& elves);

enum class Fit { yes, no, unknown };
enum class FitReason {
    uses_no_torch,
    uses_stable_abi,  // and torch has all of it
    has_all_symbols,
    symbols_missing,
    library_missing,  // one of torch's own: libtorch_cuda.so of a torch for CPUs
    runtime_differs,  // libcudart.so.12, and torch is linked to libcudart.so.13 (other_library.hpp)
    mpi_differs,
    machine_differs,
    python_differs,
    not_read,
};
[[nodiscard]] std::string_view fit_text(Fit fit);                  // "yes", "no", "unknown"
[[nodiscard]] std::string_view fit_reason_text(FitReason reason);  // "symbols_missing"

struct TorchFit {
    Fit fit = Fit::unknown;
    FitReason reason = FitReason::not_read;
    std::string sentence;      // without a full stop
    std::size_t used = 0;      // different names of torch's interface
    std::size_t missing = 0;   // of these, what torch lacks
    std::string file, symbol;  // the first missing name and who needs it
};

[[nodiscard]] TorchFit fits(const CompanionUses& companion, const TorchExports& torch);

// Says whether one Python can load extensions with these tags and that torch.
[[nodiscard]] bool share_a_python(const std::vector<wheel::Tag>& companion,
                                  const std::vector<wheel::Tag>& torch);

// The torches with which a wheel of this name and these requirements of torch is meant to be used, newest
// first: what an index has. None: nothing is known of them.
using TorchesFor = std::function<std::vector<TorchExports>(const wheel::WheelFilename& companion,
                                                           const std::vector<std::string>& torch_requires)>;
// Why none of `torches` for this Python and machine can load the companion: the answer for the newest.
// nullopt: one can, one may (the site can have the other runtime or MPI, too), or there is none.
[[nodiscard]] std::optional<TorchFit> fits_none(const CompanionUses& companion,
                                                const std::vector<TorchExports>& torches);

}  // namespace wheelyard::inspect
