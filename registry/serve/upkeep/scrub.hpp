// The scrub of `serve`: lifecycle::verify at a low rate, again and again, so that bytes that change on the
// disk are found, and their files hidden, without an operator. It continues where a restart interrupted it
// (`scrub.json` in the store).
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>

#include "lib/store/blobs/store.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/lifecycle/verify.hpp"
#include "lib/store/store.hpp"
#include "registry/config/config.hpp"
#include "registry/serve/upkeep/background_task.hpp"

namespace wheelyard::registry {

// The scrub. A server that restarts often reads nothing; one that stays up reads everything once a day at
// most.
inline constexpr std::int64_t scrub_first_delay_ms = 60'000;
inline constexpr std::int64_t scrub_pause_ms = 24LL * 3'600'000;

// It reads in a thread of its own, which the destructor stops.
class Scrub {
  public:
    struct Seen {
        std::uint64_t rounds = 0;  // completed since the start
        std::uint64_t blobs = 0;   // read since the start
        std::uint64_t faults = 0;  // found since the start
    };
    struct Delays {
        std::int64_t first_ms = scrub_first_delay_ms;
        std::int64_t pause_ms = scrub_pause_ms;
    };
    // The arguments must outlive the object. With scrub_mib_per_s = 0 it does nothing, nor at a node whose
    // round it is not: `is_mine` is asked before each.
    Scrub(const RegistryConfig& config, const database::Store& store, const blobs::BlobStore& blobs,
          PublishQueue& pages, std::function<bool()> is_mine, Delays delays);
    [[nodiscard]] Seen seen() const;

  private:
    void run_round(base::Clock& clock);
    void note_fault(const lifecycle::Fault& fault);
    const RegistryConfig& config_;
    const database::Store& store_;
    const blobs::BlobStore& blobs_;
    PublishQueue& pages_;
    const std::function<bool()> is_mine_;
    mutable std::mutex mutex_;  // guards seen_
    Seen seen_;
    BackgroundTask task_;  // last: it uses all of the above
};

}  // namespace wheelyard::registry
