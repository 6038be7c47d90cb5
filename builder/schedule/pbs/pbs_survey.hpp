// What PBS reports of itself, for `site init`. The parsers are pure.
//
// Sources: qstat(1B), pbsnodes(8B) and "Attributes" of the PBS Professional Reference Guide.
//
//     Queue: main
//         queue_type = Execution
//         resources_max.walltime = 12:00:00
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "builder/schedule/batch_survey.hpp"

namespace wheelyard::builder::pbs {

// `qstat -Q -f`. `default_queue`: that of the server.
[[nodiscard]] std::vector<QueueSurvey> parse_queues(std::string_view text, const SurveyUser& user,
                                                    std::string_view default_queue);
// `pbsnodes -av`, with equal nodes together; memory that differs by less than a GiB is equal.
[[nodiscard]] std::vector<NodeSurvey> parse_nodes(std::string_view text);
// The attribute `name` of `qstat -B -f`; empty: not set.
[[nodiscard]] std::string parse_server_attribute(std::string_view text, std::string_view name);

// What the queue of a job allows, and those that it routes to: "small: walltime = 01:00:00, ncpus = 4; large: …". `printed`:
// `qstat -Q -f`. Empty: it says nothing of this queue.
[[nodiscard]] std::string describe_limits(std::string_view printed, const std::string& queue);

// nullopt: this machine has no PBS, or it does not answer. Programs of the same names that belong to another batch system
// are not PBS.
[[nodiscard]] std::optional<BatchSurvey> survey(const SurveyUser& user, const AskMachine& ask);

}  // namespace wheelyard::builder::pbs
