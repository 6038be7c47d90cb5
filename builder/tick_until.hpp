// Ticks in a row, for the commands that wait: `run`, `reproduce` and `tick --stay`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "builder/screen.hpp"
#include "builder/workplace/workplace.hpp"

namespace wheelyard::builder {

// `run` returns if nothing has changed for this long.
inline constexpr std::int64_t run_patience_ms = 10 * 60'000;
// The interval between ticks of `run`, `reproduce` and `tick --stay`: a twentieth of the time without a
// change, within these. squeue(1) asks for no loops that load slurmctld, and a build of hours needs no tick each
// second.
inline constexpr std::int64_t run_poll_ms = 400;
inline constexpr std::int64_t max_run_poll_ms = 10'000;
inline constexpr std::int64_t run_poll_share = 20;

[[nodiscard]] std::string event_line(const Attempt& attempt, const std::string& text);
[[nodiscard]] bool awaits_login_node(const Attempt& attempt);
// Whether a step on the login node resolves what a want needs.
[[nodiscard]] bool awaits_closure(const Plan& plan);

// Whether nothing is left that this program can do, now or after its own jobs.
[[nodiscard]] bool is_settled(const TickReport& report);
// The interval to the next tick if no attempt has moved for `unchanged_ms`.
[[nodiscard]] std::int64_t next_tick_ms(std::int64_t unchanged_ms);
// Ticks until it is enough, or nothing has changed for run_patience_ms (if the registry is down, for example).
[[nodiscard]] base::Result<Plan> tick_until(Workplace& place, Screen& screen,
                                            const std::function<bool(const TickReport&)>& is_enough);

}  // namespace wheelyard::builder
