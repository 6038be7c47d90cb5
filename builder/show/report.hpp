// The plan and the attempts as tables for people and as JSON for programs. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/plan/plan.hpp"
#include "lib/base/clock.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::builder {

// The progress of a build, from the tail of its log. Pure.
//
//     [12/345] Building CXX object …        ninja
//     [ 12%] Building C object …            make, through CMake
struct Progress {
    std::string phase;  // of the last phase marker in the tail, or empty
    int done = 0;
    int total = 0;  // 0: no counter since that marker; 100 for percentages
};

[[nodiscard]] Progress parse_progress(std::string_view log_tail);

// "[#####-----] 12/345" with a bar of `width` characters; empty without a counter.
[[nodiscard]] std::string render_bar(const Progress& progress, int width);

// The table of cells and a line of counts; `explain` adds the reason and the recipe of every cell. The table
// fits `columns` of a terminal; 0: no limit.
[[nodiscard]] std::string render_plan(const Plan& plan, bool explain, std::size_t columns = 0);
// What a tick on a terminal prints when it had nothing to do: the counts and the first reason.
[[nodiscard]] std::string render_idle_tick(const Plan& plan);
[[nodiscard]] std::string render_plan_json(const Plan& plan);  // "wheelyard.plan/1"

// pip's options that determine where sources come from, each with its origin, without secrets.
[[nodiscard]] std::string render_pip_config(const simple::PipConfig& config);

struct AttemptView {
    Attempt attempt;
    Progress progress;  // from its log
    // The id of the registry's task that the attempt is built for; empty: not built for a claimed task.
    std::string claimed_task = {};
    std::string job = {};  // in its scheduler's words: "Slurm job 4711 on n1, RUNNING"; empty: not asked
    std::string needs_person = {};  // what a person has to decide about its cell; empty: nothing
};
[[nodiscard]] std::string render_status(const std::vector<AttemptView>& attempts, base::UnixMicros now,
                                        const std::vector<HeldQueue>& queues = {}, std::size_t columns = 0);
[[nodiscard]] std::string render_status_json(
    const std::vector<AttemptView>& attempts,
    const std::vector<HeldQueue>& queues = {});  // "wheelyard.status/1"
// A line for each, in the batch system's own words; empty: there is none.
[[nodiscard]] std::string render_held_queues(const std::vector<HeldQueue>& queues);

// "As of 2026-11-28T09:00:00Z; the last tick began 3 min ago."
[[nodiscard]] std::string render_as_of(base::UnixMicros now, std::optional<base::UnixMicros> last_tick);

// What an attempt is doing, in a few words: "build [###---] 12/345", "uploading, waiting: …".
[[nodiscard]] std::string render_activity(const AttemptView& view);

}  // namespace wheelyard::builder
