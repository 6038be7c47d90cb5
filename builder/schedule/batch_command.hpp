// Runs one program of a batch system (squeue, qsub …) in plain English and with its standard output format,
// whatever the person's environment says. Behind an interface, so that tests can put recorded answers there.
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

// Where the server is, and how to prove who asks.
inline constexpr std::array<std::string_view, 8> batch_server_variables = {
    "SLURM_CONF", "SLURM_CLUSTERS", "MUNGE_SOCKET", "PBS_CONF_FILE",
    "PBS_EXEC",   "PBS_DEFAULT",    "PBS_SERVER",   "KRB5CCNAME"};

struct BatchCommand {
    std::vector<std::string> argv;
    EnvironmentMap environment;
};
using BatchRunner = std::function<base::Result<base::Finished>(const BatchCommand&)>;
[[nodiscard]] base::Result<base::Finished> run_batch_command(const BatchCommand& command);

// `agent` without what changes the output of Slurm's and PBS's programs or adds to a job.
[[nodiscard]] EnvironmentMap batch_environment(const EnvironmentMap& agent);
// What sbatch and qsub start with: the job's own environment and where their server is, nothing else of the
// agent.
[[nodiscard]] EnvironmentMap submit_environment(const EnvironmentMap& agent, const EnvironmentMap& job);

// The first line that a program said, for a person.
[[nodiscard]] std::string first_words(const base::Finished& finished);

}  // namespace wheelyard::builder
