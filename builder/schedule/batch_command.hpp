// Runs a program of a batch system (squeue, qsub …) with English messages and its standard output format,
// regardless of the user's environment. Behind an interface, so that tests can replay recorded answers.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/environment.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::uint64_t max_queue_bytes = 64 * base::mib;  // output of one call

struct BatchCommand {
    std::vector<std::string> argv;
    EnvironmentMap environment;
};
using BatchRunner = std::function<base::Result<base::Finished>(const BatchCommand&)>;
[[nodiscard]] base::Result<base::Finished> run_batch_command(const BatchCommand& command);

// Authenticates the user for any batch system, where Kerberos is used.
inline constexpr std::string_view kerberos_variable = "KRB5CCNAME";

// The environment of a query: `agent` without the locale and without the variables that begin with one of
// `output_variables`, which change what the programs print or add options to a job.
[[nodiscard]] EnvironmentMap batch_environment(const EnvironmentMap& agent,
                                               std::span<const std::string_view> output_variables);
// The environment of a submission: the job's own, `server_variables` and Kerberos; nothing else of the
// agent's. LC_ALL is C for the program's messages; job.sh restores the job's own.
[[nodiscard]] EnvironmentMap submit_environment(const EnvironmentMap& agent,
                                                std::span<const std::string_view> server_variables,
                                                const EnvironmentMap& job);

// The first line of a program's output, for an error message; "no answer in time" or "exit status N" without
// one.
[[nodiscard]] std::string first_words(const base::Finished& finished);

// Parses times and sizes as squeue, sacct and qstat print them. Any text has a result; values beyond the
// range of the type become its largest value.

inline constexpr std::int64_t s_per_minute = 60;
inline constexpr std::int64_t kib_per_mib = 1024;

// "[DD-][HH:]MM:SS[.mmm]" (squeue(1), sacct(1); PBS's HH:MM:SS too) in seconds; 0 for anything else
// ("INVALID").
[[nodiscard]] std::int64_t parse_elapsed_s(std::string_view text);

// "12345K", "1.5G", "20gb", "2048" (bytes) in KiB. Units are binary, in upper or lower case (sacct(1);
// pbs_resources(7)); fractions are dropped. 0 for anything else.
[[nodiscard]] std::int64_t parse_size_kib(std::string_view text);

}  // namespace wheelyard::builder
