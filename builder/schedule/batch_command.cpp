// The environments of batch programs.
#include "builder/schedule/batch_command.hpp"

#include <algorithm>
#include <string_view>

#include "builder/attempt/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t batch_timeout_ms = 60'000;  // per call of squeue, qstat, sbatch …

}  // namespace

base::Result<base::Finished> run_batch_command(const BatchCommand& command) {
    base::Command program;
    program.argv = command.argv;
    program.environment = command.environment;
    program.timeout_ms = batch_timeout_ms;
    program.output_limit_bytes = max_queue_bytes;
    return base::run_command(program);
}

EnvironmentMap batch_environment(const EnvironmentMap& agent,
                                 std::span<const std::string_view> output_variables) {
    EnvironmentMap environment;
    for (const auto& [name, value] : agent) {
        const auto begins_with = [&variable = name](std::string_view prefix) {
            return variable.starts_with(prefix);
        };
        const bool changes_output =
            begins_with("LC_") || begins_with("LANG") ||
            std::any_of(output_variables.begin(), output_variables.end(), begins_with);
        if (!changes_output) environment.emplace(name, value);
    }
    environment.emplace("LC_ALL", "C");
    return environment;
}

EnvironmentMap submit_environment(const EnvironmentMap& agent,
                                  std::span<const std::string_view> server_variables,
                                  const EnvironmentMap& job) {
    EnvironmentMap environment = job;
    const auto copy = [&](std::string_view name) {
        if (const auto found = agent.find(std::string(name)); found != agent.end())
            environment.insert(*found);
    };
    copy(kerberos_variable);
    std::for_each(server_variables.begin(), server_variables.end(), copy);
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
