// STATE/site_check.json: the required lines that `site check` last found wrong. Written by that command, read
// by ticks: as long as it names one, nothing new is submitted; a build without its compiler wastes a job, or
// makes a wheel that lacks its extension.
//
//     {"format":"wheelyard.site_check/1","at":"2026-11-28T08:00:00Z","failed":["C compiler cc: command not found"]}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

struct SiteCheckRecord {
    base::UnixMicros at = 0;
    std::vector<std::string> failed;
};

// Without failed lines if there is no file, or it cannot be read: a check is a help, not a condition.
[[nodiscard]] SiteCheckRecord read_site_check(const std::filesystem::path& state_directory);
[[nodiscard]] base::Status write_site_check(const std::filesystem::path& state_directory,
                                            const SiteCheckRecord& record);

// Why nothing new is submitted, for people; empty: nothing is wrong. `command`: the whole `site check`.
[[nodiscard]] std::string why_nothing_begins(const SiteCheckRecord& record, const std::string& command);

}  // namespace wheelyard::builder
