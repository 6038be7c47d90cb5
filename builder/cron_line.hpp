// The line that a user installs so that the agent ticks automatically: for crontab, or for scrontab where
// cron is disabled. Pure.
//
// The line contains everything that a tick needs, because cron's environment is almost empty. Variables that
// may contain a secret (an index URL) are only named: the commands in a crontab are visible to every user of
// the machine.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "builder/attempt/environment.hpp"

namespace wheelyard::builder {

struct CronInput {
    std::filesystem::path program;  // wheelyard-builder, absolute
    std::filesystem::path site;     // absolute
    std::filesystem::path log;      // absolute
    EnvironmentMap environment;
    std::string account = {};  // that the site's jobs are charged to
    std::int64_t tick_minutes = 5;
    std::int64_t max_step_minutes = 0;  // scrontab only: how long a tick may wait for its login-node steps
};
[[nodiscard]] std::string render_cron_line(const CronInput& input);
[[nodiscard]] std::string render_scrontab_line(const CronInput& input);

}  // namespace wheelyard::builder
