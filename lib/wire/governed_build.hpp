// The governor's results for one build: the members of its summary (`wheelyard-governor --json`,
// "wheelyard.governor-summary/1") that journals and outcomes keep, with the same names.
//
//     {"compiles":140,"killed":1,"oom_kills":0,"could_not_fit":0,"high_water_bytes":6100000000,
//      "limit_bytes":8000000000,"limit":"cgroup",
//      "worst":[{"source":"a.cu","peak_bytes":3000000000,"seconds":61.5}],
//      "messages":[], …}
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::wire {

inline constexpr std::uint64_t max_governor_summary_bytes = 1u << 20;
inline constexpr std::size_t max_worst_compiles = 10;
inline constexpr std::size_t max_governor_messages = 20;
inline constexpr std::size_t max_governor_text = 400;  // bytes of one source or message

struct WorstCompile {
    std::string source;
    std::uint64_t peak_bytes = 0;
    double seconds = 0;
};

struct GovernedBuild {
    std::uint64_t compiles = 0;
    std::uint64_t killed = 0;         // by the governor for memory, then run again
    std::uint64_t oom_kills = 0;      // by the kernel, then run again
    std::uint64_t could_not_fit = 0;  // these failed the build for lack of memory alone
    double wall_seconds = 0;
    std::uint64_t high_water_bytes = 0;  // of all compiles together, as sampled
    std::uint64_t limit_bytes = 0;
    std::string limit;                // the source of the limit: "cgroup …", "--memory"
    std::vector<WorstCompile> worst;  // largest first
    std::vector<std::string> messages;

    [[nodiscard]] std::uint64_t retries() const { return killed + oom_kills; }
};

[[nodiscard]] io::Json render_governed_build(const GovernedBuild& build);
// Lenient like all wire formats: absent members are zero; texts and lists are cut at the limits above.
[[nodiscard]] GovernedBuild parse_governed_build(const io::Json& json);
// Parses the summary file that the governor writes. Errors: "governor.format", and those of parse_json.
[[nodiscard]] base::Result<GovernedBuild> parse_governor_summary(std::string_view text);

// "140 compiles, at most 5.7 GiB of 7.5 GiB (cgroup), 1 run again".
[[nodiscard]] std::string describe(const GovernedBuild& build);

}  // namespace wheelyard::wire
