// What PBS says of a job before it is submitted. qsub has no dry run, so the limits of the queue and the sizes of the nodes
// are compared.
#pragma once

#include <string>
#include <string_view>

#include "builder/schedule/job_trial.hpp"

namespace wheelyard::builder::pbs {

// `printed`: `qstat -Q -f QUEUE`, the attributes `enabled`, `started` and `resources_max.NAME`.
[[nodiscard]] TrialAnswer read_trial(std::string_view printed, const TrialJob& job);

// Whether enough nodes of the queue are as large as a chunk of the job, also nodes that are down. `printed`: as above;
// `nodes`: `pbsnodes -av`.
[[nodiscard]] TrialAnswer compare_with_nodes(std::string_view printed, std::string_view nodes,
                                             const TrialJob& job);

[[nodiscard]] TrialAnswer try_job(const std::string& header, const TrialJob& job, const AskMachine& ask);

}  // namespace wheelyard::builder::pbs
