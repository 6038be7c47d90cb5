// The scrub: every stored blob is read from the disk and hashed, and store and catalog are compared.
//
// A blob whose bytes have changed is isolated: the files that refer to it are quarantined, so that pages and
// published tree drop them, and then the blob is moved to `damaged/`. Nothing is deleted. An upload of the same bytes
// repairs the blob; if it comes while the blob is read, nothing is isolated. A missing blob is only reported: the
// published tree may have its last copy.
//
// The state file, such as `verify.json` of the data folder, records progress, so that a stopped run continues where it was:
//
//     {"format":"wheelyard.verify/1","after":"ab3f…","started":1795176000000000,"blobs":1200,"bytes":73400320}
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/limits.hpp"
#include "registry/lifecycle/perform.hpp"

namespace wheelyard::lifecycle {

// verify. The clock is read after each step. Progress is saved after each verify_note_bytes, so that a stopped
// run repeats little.
inline constexpr std::size_t verify_step_bytes = base::mib;
inline constexpr std::uint64_t verify_note_bytes = 256 * base::mib;
inline constexpr std::uint64_t max_verify_state_bytes = 64 * base::kib;
inline constexpr std::size_t rows_at_once = 1'000;

struct VerifySettings {
    std::filesystem::path state_file;    // the progress of runs of one kind
    std::uint64_t bytes_per_second = 0;  // 0: as fast as the disk
    bool restart = false;                // from the beginning, whatever an earlier run has done
};
struct VerifyProgress {
    std::uint64_t blobs = 0;  // including those of earlier runs that this run continues
    std::uint64_t bytes = 0;
    double fraction = 0;  // of the hash space
};
struct Fault {
    std::string code;                      // "catalog", "damaged", "missing"
    std::string subject;                   // a hash; of "catalog": what SQLite says
    std::vector<catalog::FileName> files;  // that refer to it; quarantined if the code is "damaged"
};
struct VerifyReport {
    bool resumed = false;
    std::uint64_t blobs = 0;
    std::uint64_t bytes = 0;
    std::uint64_t orphans = 0;  // this run's; gc takes them after its grace
    std::vector<Fault> faults;  // this run's
};

struct VerifyHooks {
    // Called after these files were quarantined: an error if a page or the tree still shows them.
    std::function<base::Status(const std::vector<catalog::FileName>&)> hide;
    std::function<void(const VerifyProgress&)> progress = {};
    std::function<void(const Fault&)> found = {};  // each fault, when it is found
    std::function<bool()> stops = {};  // true ends the run: "verify.stopped"; another run continues it
};

[[nodiscard]] base::Result<VerifyReport> verify(const LifecycleParts& place, base::Clock& clock,
                                                const VerifySettings& settings, const VerifyHooks& hooks);

}  // namespace wheelyard::lifecycle
