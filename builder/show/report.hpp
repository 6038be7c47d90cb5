// What people and programs read of plan and attempts: tables and JSON. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/plan/plan.hpp"
#include "builder/show/progress.hpp"
#include "lib/base/clock.hpp"
#include "lib/simple/pip_config.hpp"

namespace wheelyard::builder {

// The table of cells and a line of counts; `explain` adds every cell's reason and recipe.
[[nodiscard]] std::string render_plan(const Plan& plan, bool explain);
[[nodiscard]] std::string render_plan_json(const Plan& plan);  // "wheelyard.plan/1"

// Where sources come from: pip's options that matter, each with its origin, secrets left out.
[[nodiscard]] std::string render_pip_config(const simple::PipConfig& config);

struct AttemptView {
    Attempt attempt;
    Progress progress;  // of its log
    std::string claimed_task =
        {};  // of the registry that its cell is built for; empty: none that is claimed now
};
[[nodiscard]] std::string render_status(const std::vector<AttemptView>& attempts, base::UnixMicros now);
[[nodiscard]] std::string render_status_json(
    const std::vector<AttemptView>& attempts);  // "wheelyard.status/1"

// What an attempt is doing now, in a few words: "build [###---] 12/345", "uploading, waiting: …".
[[nodiscard]] std::string render_activity(const AttemptView& view);

}  // namespace wheelyard::builder
