// Ticks in a row, for the commands that wait: `run`, `reproduce` and `tick --stay`.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "builder/show/report.hpp"
#include "builder/workplace/workplace.hpp"
#include "lib/base/clock.hpp"

namespace wheelyard::builder {

// What `run` and `tick` print while they work.

// The output of `run`: one line per event, and on a terminal a status line below that is redrawn.
class Screen {
  public:
    // `terminal`: `out` supports redrawing a line.
    Screen(std::FILE* out, bool terminal) : out_(out), terminal_(terminal) {}
    ~Screen() { clear(); }
    Screen(const Screen&) = delete;
    Screen& operator=(const Screen&) = delete;

    // Prints one event.
    void line(const std::string& text);
    // On a terminal, redraws the status line; otherwise prints a line for each new phase and each tenth of
    // progress.
    void show(const std::vector<AttemptView>& active);

  private:
    void clear();
    [[nodiscard]] std::size_t columns() const;
    std::FILE* out_;
    bool terminal_;
    bool drawn_ = false;
    std::map<std::string, std::string> said_;  // attempt → its last printed phase and tenth
};

// What ticks print that nobody watches: each line with the time, and not again what the tick before printed.
// Pure.
class TickLines {
  public:
    // A tick begins: what only the one before the last said is new again.
    void begin();
    // The lines of `text` that are new, each with the time; empty: none.
    [[nodiscard]] std::string fresh(std::string_view text, base::UnixMicros now);

  private:
    std::set<std::string, std::less<>> before_, now_;
};

// `run` returns if nothing has changed for this long.
inline constexpr std::int64_t run_patience_ms = 10 * 60'000;
// The interval between ticks of `run`, `reproduce` and `tick --stay`: a twentieth of the time without a
// change, within these. Each tick asks a batch system once about all jobs of the site: squeue(1) asks for no
// loops that load slurmctld, which answers everybody.
inline constexpr std::int64_t run_poll_ms = 400;
inline constexpr std::int64_t max_run_poll_ms = 10'000;
inline constexpr std::int64_t batch_poll_ms = 2'000;  // while the batch system has a job of the site
inline constexpr std::int64_t max_batch_poll_ms = 60'000;
inline constexpr std::int64_t run_poll_share = 20;

[[nodiscard]] std::string event_line(const Attempt& attempt, const std::string& text);
[[nodiscard]] bool awaits_login_node(const Attempt& attempt);
// Says whether a step on the login node resolves what a want needs.
[[nodiscard]] bool awaits_closure(const Plan& plan);

// Says whether nothing is left that this program can do, now or after its own jobs.
[[nodiscard]] bool is_settled(const TickReport& report);
// The interval to the next tick if no attempt has moved for `unchanged_ms`.
[[nodiscard]] std::int64_t next_tick_ms(std::int64_t unchanged_ms, bool asks_batch_system);
// Ticks until it is enough, or nothing has changed for run_patience_ms (if the registry is down, for
// example).
[[nodiscard]] base::Result<Plan> tick_until(Workplace& place, Screen& screen,
                                            const std::function<bool(const TickReport&)>& is_enough);

}  // namespace wheelyard::builder
