// Asks Slurm whether it would take a job: `sbatch --test-only`, which submits nothing (sbatch(1)).
#pragma once

#include <string>
#include <string_view>

#include "builder/schedule/job_trial.hpp"

namespace wheelyard::builder::slurm {

// What `sbatch --test-only` printed, and whether it ended well.
[[nodiscard]] TrialAnswer read_trial(bool good, std::string_view printed);

[[nodiscard]] TrialAnswer try_job(const std::string& header, const TrialJob& job, const AskMachine& ask);

}  // namespace wheelyard::builder::slurm
