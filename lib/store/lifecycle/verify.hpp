// The scrub: every stored blob is read from the disk and hashed, and store and catalog are compared.
//
// It changes no blob. The files of one whose bytes have changed, as two reads say that agree, are
// quarantined, so that pages and published tree drop them; those of one that is gone, too. First another blob
// that is intact has to be read as what it is: if it is not, the reader is at fault (this machine's memory, a
// proxy, another store), and the run releases what it has quarantined, and ends. Each run begins with the
// files that an earlier one has quarantined, and releases those whose bytes are intact; an upload of the same
// bytes does so at once. A blob that is gone from a folder is stored again where the published tree has its
// bytes. A file in the cache of an upstream whose blob is gone is evicted instead of quarantined: the next
// request fetches it.
//
// The state file, such as `verify.json` of the data folder, records progress, so that a stopped run continues
// where it was:
//
//     {"format":"wheelyard.verify/1","after":"ab3f…","started":1795176000000000,"blobs":1200,"bytes":73400320,
//      "finished":1795089600000000}
//
// `finished` is the end of the last complete run, which leaves nothing else there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/limits.hpp"
#include "lib/store/lifecycle/perform.hpp"

namespace wheelyard::lifecycle {

// Of the blobs that show that the reader is right: read again before each quarantine.
inline constexpr int max_control_tries = 16;
inline constexpr int min_control_tries = 3;  // of those as large as the suspect; fewer may all be damaged
inline constexpr std::uint64_t max_control_bytes = 64 * base::mib;  // a larger one shows no more

// verify. The clock is read after each step. Progress is saved after each verify_note_bytes, so that a
// stopped run repeats little.
inline constexpr std::size_t verify_step_bytes = base::mib;
inline constexpr std::uint64_t verify_note_bytes = 256 * base::mib;
inline constexpr std::uint64_t max_verify_state_bytes = 64 * base::kib;
inline constexpr std::size_t rows_at_once = 1'000;

// Of a store that is asked over a network, where each read waits for the answer: blobs that are read at once,
// with a connection and at most 8 MiB each. Only without bytes_per_second: what is to be slow reads one at a
// time.
inline constexpr std::size_t remote_readers = 8;

struct VerifySettings {
    std::filesystem::path state_file;               // the progress of runs of one kind
    std::uint64_t bytes_per_second = 0;             // 0: as fast as the disk
    bool restart = false;                           // from the beginning, whatever an earlier run has done
    std::vector<std::filesystem::path> trees = {};  // the published ones
};
struct VerifyProgress {
    std::uint64_t blobs = 0;  // including those of earlier runs that this run continues
    std::uint64_t bytes = 0;
    double fraction = 0;  // of the hash space
};
struct Fault {
    // "catalog"; of a blob: "damaged", "missing", "restored" (from the published tree), "unsteady" (two reads
    // differ), "reader" (another one was read wrong)
    std::string code;
    std::string subject;                   // a hash; of "catalog": what is wrong
    std::vector<catalog::FileName> files;  // that refer to it
};
struct VerifyReport {
    bool resumed = false;
    std::uint64_t blobs = 0;
    std::uint64_t bytes = 0;
    std::uint64_t orphans = 0;  // this run's; gc takes them after its grace
    std::vector<Fault> faults;  // this run's
};

struct VerifyHooks {
    // Called after these files were quarantined or released: an error if a page or the tree does not follow.
    std::function<base::Status(const std::vector<catalog::FileName>&)> show;
    std::function<void(const VerifyProgress&)> progress = {};
    std::function<void(const Fault&)> found = {};  // each fault, when it is found
    std::function<bool()> stops = {};  // true ends the run: "verify.stopped"; another run continues it
};

// Stores a blob that is gone again from a file of a published tree. False: there is no such file, or it has
// other bytes.
[[nodiscard]] base::Result<bool> restore_from(const std::filesystem::path& file, const std::string& sha256,
                                              const blobs::BlobStore& blobs);

// When the last run with this state file, or the backup of this note, was complete, whatever it found; 0:
// none was.
[[nodiscard]] base::UnixMicros last_finished(const std::filesystem::path& state_file);

// Error "verify.reader": see above.
[[nodiscard]] base::Result<VerifyReport> verify(const LifecycleParts& place, base::Clock& clock,
                                                const VerifySettings& settings, const VerifyHooks& hooks);

}  // namespace wheelyard::lifecycle
