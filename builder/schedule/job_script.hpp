// job.sh, the script that a batch system runs. It starts the build script of one attempt in a process group
// of its own and forwards the warning that the job's time is nearly over. The build script knows nothing of
// schedulers. Pure, except for write_job_script.
//
//     Slurm, PBS ─► job.sh ─► script.sh ─► the build
//                     └ on a signal: writes the reason to `cut`, then sends TERM to the whole group;
//                       script.sh still writes its exit record
//
// bash handles a signal only between two commands. job.sh waits for the build in the background, so it
// handles signals at once (sbatch(1), --signal=B:).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "builder/schedule/scheduler.hpp"

namespace wheelyard::builder {

inline constexpr std::int64_t min_warning_s = 30;  // before a job's time limit
inline constexpr std::int64_t max_warning_s = 5 * 60;

struct JobScriptInput {
    const JobRequest& job;
    std::string header;             // the directive lines of the batch system
    std::string_view before_ranks;  // a line that the script needs before it starts ranks
    bool warns_itself = false;  // true: the batch system cannot warn before the end, so job.sh sets an alarm
};
[[nodiscard]] std::string render_job_script(const JobScriptInput& input);

// The job's environment as bash that job.sh sources. The file has mode 0600, because an index URL may contain
// a password. It does not depend on what the batch system passes on, and other users cannot query it.
[[nodiscard]] std::string render_job_environment(const EnvironmentMap& environment);

// How long before its time limit a job is warned: a tenth of the limit, clamped to min_warning_s and
// max_warning_s.
[[nodiscard]] std::int64_t warning_before_end_s(std::int64_t max_walltime_minutes);

// The seconds of its own time after which a job warns itself, where the batch system does not.
[[nodiscard]] std::int64_t alarm_after_s(std::int64_t max_walltime_minutes);

// Writes job.sh and the environment file to the attempt's folder.
[[nodiscard]] base::Status write_job_script(const JobScriptInput& input);

}  // namespace wheelyard::builder
