// The environments of batch programs.
#include "builder/schedule/batch_command.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "builder/attempt/limits.hpp"
#include "builder/schedule/limits.hpp"
#include "lib/base/utf8.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::array<std::string_view, 8> output_changers = {
    "SQUEUE_", "SACCT_", "SBATCH_", "SCANCEL_", "QSTAT_", "SLURM_TIME_FORMAT", "LC_", "LANG"};

}  // namespace

base::Result<base::Finished> run_batch_command(const BatchCommand& command) {
    base::Command program;
    program.argv = command.argv;
    program.environment = command.environment;
    program.timeout_ms = batch_timeout_ms;
    program.output_limit_bytes = max_queue_bytes;
    return base::run_command(program);
}

EnvironmentMap batch_environment(const EnvironmentMap& agent) {
    EnvironmentMap environment;
    for (const auto& [name, value] : agent) {
        const bool changes =
            std::any_of(output_changers.begin(), output_changers.end(),
                        [&name = name](std::string_view prefix) { return name.starts_with(prefix); });
        if (!changes) environment.emplace(name, value);
    }
    environment.emplace("LC_ALL", "C");
    return environment;
}

EnvironmentMap submit_environment(const EnvironmentMap& agent, const EnvironmentMap& job) {
    EnvironmentMap environment = job;
    for (const auto name : batch_server_variables) {
        if (const auto found = agent.find(std::string(name)); found != agent.end())
            environment.insert(*found);
    }
    environment.insert_or_assign("LC_ALL", "C");
    return environment;
}

std::string first_words(const base::Finished& finished) {
    for (const auto* text : {&finished.err, &finished.out}) {
        for (const auto line : base::split_lines(*text)) {
            if (!base::trim(line).empty())
                return std::string(base::cut_utf8(base::trim(line), max_error_line_bytes));
        }
    }
    return finished.timed_out ? "no answer in time" : "exit status " + std::to_string(finished.exit_code);
}

}  // namespace wheelyard::builder
