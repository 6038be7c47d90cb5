// Queues that refuse jobs for a reason that may pass: a maintenance, a hook that fails, a limit of queued
// jobs. No job is submitted to such a queue but a probe: one job, again after growing waits, until it is
// taken.
//
//     STATE/held_queues.json
//     {"format":"wheelyard.held_queues/1","queues":[{"queue":"main","reason":"qsub: in maintenance until 18:00",
//       "since":"2026-11-26T08:00:00Z","tries":3,"not_before":"2026-11-26T08:00:09Z","refused":["w1kq7x9aab3cde"]}]}
//
// The file only saves submissions: without it, or if it cannot be read, the next submission finds out again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {

// Attempts whose job one held queue may have refused; while all that wait were refused, another one is
// prepared, up to this many: the reason may be of one kind of job only.
inline constexpr std::size_t max_refused_jobs = 8;

struct HeldQueue {
    std::string queue;   // its name; empty: the batch system's default
    std::string reason;  // the batch system's own words
    base::UnixMicros since = 0;
    int tries = 0;                     // refusals in a row
    base::UnixMicros not_before = 0;   // of the next probe
    std::vector<std::string> refused;  // attempts, the last one refused last
};

class HeldQueues {
  public:
    HeldQueues() = default;  // of a test: nothing is stored
    [[nodiscard]] static HeldQueues read(const std::filesystem::path& state_directory);

    [[nodiscard]] const std::vector<HeldQueue>& list() const { return queues_; }
    [[nodiscard]] const HeldQueue* find(const std::string& queue) const;  // nullptr: it takes jobs

    // Chooses the probe of this tick: of the attempts that `waiting` for the queue, the one whose refusal is
    // longest ago, so that one job that is always refused does not hold up the others.
    void choose_probe(const std::string& queue, const std::vector<std::string>& waiting);
    // Says whether the attempt's job may be submitted now.
    [[nodiscard]] bool may_submit(const std::string& queue, const std::string& attempt,
                                  base::UnixMicros now) const;

    // Both are durable on return. True: a new reason, for people.
    [[nodiscard]] base::Result<bool> refuse(const std::string& queue, const std::string& attempt,
                                            const std::string& reason, base::UnixMicros now);
    [[nodiscard]] base::Status accept(const std::string& queue);

  private:
    [[nodiscard]] base::Status write() const;
    std::filesystem::path file_;
    std::vector<HeldQueue> queues_;
    std::vector<std::pair<std::string, std::string>> probes_;  // queue, attempt: of this tick
};

// The list of the file, for programs.
[[nodiscard]] io::Json held_queues_json(const std::vector<HeldQueue>& queues);

// "queue `main`", "the default queue"
[[nodiscard]] std::string queue_words(const std::string& queue);
// A line for people: since when, why, and when the next probe is due.
[[nodiscard]] std::string describe(const HeldQueue& held);

// Exponential backoff, and comparisons of times for a clock that may step back.

// The delay doubles with `tries` from `first_ms` to `max_ms`. Jitter of up to a quarter spreads the retries
// of many agents.
[[nodiscard]] std::int64_t backoff_delay_ms(int tries, std::int64_t first_ms, std::int64_t max_ms);

// Says whether `when` has passed, for a wait of at most about `max_ms`. A later `when` also counts as passed:
// the clock has stepped back since it was written.
[[nodiscard]] bool is_due(base::UnixMicros now, base::UnixMicros when, std::int64_t max_ms);

// Says whether `period_ms` have passed since `then`; a `then` in the future counts as long ago.
[[nodiscard]] bool has_passed(base::UnixMicros now, base::UnixMicros then, std::int64_t period_ms);

}  // namespace wheelyard::builder
