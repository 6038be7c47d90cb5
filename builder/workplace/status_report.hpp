// What a tick reports to the registry: the plan, the attempts and the failures as a status::SiteReport. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "builder/plan/plan.hpp"
#include "builder/show/report.hpp"
#include "builder/site/recipe.hpp"
#include "builder/workplace/build_course.hpp"
#include "lib/base/clock.hpp"
#include "lib/status/site_report.hpp"

namespace wheelyard::builder {

struct ReportInput {
    const Site& site;  // with a registry
    const Recipes& recipes;
    const Plan& plan;
    const Pythons& pythons;
    const std::vector<AttemptView>& attempts;  // of the whole journal
    base::UnixMicros now = 0;
    base::UnixMicros next_tick = 0;  // 0: not known
    std::vector<std::string> secrets = {};
};

struct AttemptLog {
    std::vector<std::string> last_lines;
    BuildCourse course;
};

// Fits the limits of the format. `logs`: by attempt; an attempt may have none.
[[nodiscard]] status::SiteReport make_status_report(const ReportInput& input,
                                                    const std::map<std::string, AttemptLog>& logs);

// The last lines of a log that have any text. Of a line that a progress bar rewrites, only the last state
// stays.
[[nodiscard]] std::vector<std::string> last_log_lines(std::string_view log,
                                                      std::size_t max_lines = status::max_log_lines);
// Failed, and no retry has taken its place.
[[nodiscard]] bool is_reported_failure(const Attempt& attempt);

}  // namespace wheelyard::builder
