// The line that a person installs so that the agent ticks by itself: for crontab, or for scrontab where a
// site switched cron off. Pure.
//
// It says everything that a tick needs, because cron starts it with almost no environment. What may hold a
// secret (an index's URL) is named and not repeated: a crontab's commands are seen by every user of the
// machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "builder/environment.hpp"

namespace wheelyard::builder {

struct CronInput {
    std::filesystem::path program;  // wheelyard-builder, absolute
    std::filesystem::path site;     // absolute
    std::filesystem::path log;
    EnvironmentMap environment;
    std::string account = {};           // of the site's jobs
    std::int64_t max_step_minutes = 0;  // that a tick of scrontab stays for
};
[[nodiscard]] std::string render_cron_line(const CronInput& input);
[[nodiscard]] std::string render_scrontab_line(const CronInput& input);

}  // namespace wheelyard::builder
