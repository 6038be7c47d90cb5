// Runs a program of a batch system (squeue, qsub …) with English messages and its standard output format,
// regardless of the user's environment. Behind an interface, so that tests can replay recorded answers.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/site/environment.hpp"
#include "lib/base/process.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// Variables that locate the server and authenticate the user.
inline constexpr std::array<std::string_view, 8> batch_server_variables = {
    "SLURM_CONF", "SLURM_CLUSTERS", "MUNGE_SOCKET", "PBS_CONF_FILE",
    "PBS_EXEC",   "PBS_DEFAULT",    "PBS_SERVER",   "KRB5CCNAME"};

struct BatchCommand {
    std::vector<std::string> argv;
    EnvironmentMap environment;
};
using BatchRunner = std::function<base::Result<base::Finished>(const BatchCommand&)>;
[[nodiscard]] base::Result<base::Finished> run_batch_command(const BatchCommand& command);

// `agent` without the variables that change the output of Slurm's and PBS's programs or add options to a job.
[[nodiscard]] EnvironmentMap batch_environment(const EnvironmentMap& agent);
// The environment of sbatch and qsub: the job's own and batch_server_variables; nothing else of the agent's.
[[nodiscard]] EnvironmentMap submit_environment(const EnvironmentMap& agent, const EnvironmentMap& job);

// The first line of a program's output, for an error message; "no answer in time" or "exit status N" without
// one.
[[nodiscard]] std::string first_words(const base::Finished& finished);

}  // namespace wheelyard::builder
