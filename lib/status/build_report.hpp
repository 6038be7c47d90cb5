// What the registry keeps of one build, "wheelyard.build/1" (docs/reference/builds.md): the last that its
// site reported of it. A report has the builds of now; these stay.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/status/site_report.hpp"

namespace wheelyard::status {

inline constexpr std::string_view build_format = "wheelyard.build/1";

// States of a build that is over; before, it has that of its attempt.
inline constexpr std::string_view build_done = "done";
inline constexpr std::string_view build_failed = "failed";
inline constexpr std::string_view build_ended =
    "ended";  // the site no longer reports it, and did not say how it ended

[[nodiscard]] bool is_over(const BuildReport& build);
[[nodiscard]] io::Json build_json(const BuildReport& build);
// Error "json.type" or "json.missing".
[[nodiscard]] base::Result<BuildReport> parse_build(std::string_view text);

using KnownBuilds = std::map<std::string, BuildReport, std::less<>>;  // by ID

[[nodiscard]] std::vector<std::string> builds_named(const SiteReport& report);
// What the report changes: `known` has those that it names and those of the site that are not over. Pure.
[[nodiscard]] std::vector<BuildReport> changed_builds(const SiteReport& report, const KnownBuilds& known);

// When a build that began then ends, if it takes as long as the middle one of `seconds` did; 0: nobody knows.
[[nodiscard]] base::UnixMicros expected_end(base::UnixMicros began, std::vector<std::int64_t> seconds);

// The table of docs/reference/builds.md.
[[nodiscard]] std::string render_build_fields();

}  // namespace wheelyard::status
