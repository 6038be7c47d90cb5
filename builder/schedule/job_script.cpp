// The text of job.sh.
#include "builder/schedule/job_script.hpp"

#include <algorithm>

#include "builder/schedule/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::string_view body = R"sh(
# The job of attempt {{attempt}}: runs script.sh and warns it when the time limit is near.
set -u
folder={{folder}}
exec < /dev/null >> "$folder/log" 2>&1
cd "$folder" || exit 73
unset LC_ALL # set for the messages of the program that submitted the job
. "$folder/environment" || exit 73
{{before_ranks}}
# Record why the job is stopped, for the agent; then let script.sh write its exit record.
build=
reason=
cut() {
    reason=${reason:-$1} # the first one wins
    echo "@@wheelyard stop requested: $reason"
    echo "$reason" > "$folder/cut.tmp" && mv "$folder/cut.tmp" "$folder/cut"
    test -z "$build" || kill -TERM -- "-$build"
}
trap 'cut time_limit' USR1
trap 'cut terminated' TERM INT

set -m # a background job gets its own process group
/bin/bash "$folder/script.sh" &
build=$!
{{alarm}}set +m
test -z "$reason" || kill -TERM -- "-$build" # the signal came before the build started

# A signal interrupts `wait`; the build may still be running.
while true; do
    wait "$build"
    kill -0 "$build" 2> /dev/null || break
done
wait "$build"
code=$?
{{stop_alarm}}kill -KILL -- "-$build" 2> /dev/null # remaining processes
exit "$code"
)sh";

// The batch system sends no warning, so the job sets an alarm. A signal of the batch system reaches every process of
// the job in no fixed order, so a `sleep` that ends early must not raise the alarm. Short sleeps count the job's time:
// while a job is suspended, the clock runs on, but its time limit does not.
constexpr std::string_view alarm_part =
    R"sh({ # this batch system sends no warning; count the job's own minutes, not the clock's
    alarm_s={{seconds}}
    for ((passed = 0; passed < alarm_s; passed += nap)); do
        nap=$((alarm_s - passed < 60 ? alarm_s - passed : 60))
        sleep "$nap" || exit
        # The agent writes it when another time was granted.
        read -r granted < "$folder/alarm_s" && ((granted > 0)) && alarm_s=$granted
    done 2> /dev/null
    kill -USR1 "$$"
} &
alarm=$!
disown "$alarm" # else bash reports its end as that of a killed process
)sh";

}  // namespace

std::int64_t warning_before_end_s(std::int64_t max_walltime_minutes) {
    return std::clamp(max_walltime_minutes * 60 / 10, min_warning_s, max_warning_s);
}

std::int64_t alarm_after_s(std::int64_t max_walltime_minutes) {
    return max_walltime_minutes * 60 - warning_before_end_s(max_walltime_minutes);
}

std::string render_job_script(const JobScriptInput& input) {
    std::string alarm;
    std::string stop_alarm;
    const std::int64_t minutes = input.job.max_walltime_minutes;
    if (input.warns_itself && minutes > 0) {
        alarm = base::replace_all(alarm_part, "{{seconds}}", std::to_string(alarm_after_s(minutes)));
        stop_alarm = "kill -KILL -- \"-$alarm\" 2> /dev/null\n";
    }
    std::string text = "#!/bin/bash\n" + input.header;
    std::string rest = base::replace_all(body, "{{alarm}}", alarm);
    rest = base::replace_all(rest, "{{stop_alarm}}", stop_alarm);
    rest = base::replace_all(rest, "{{before_ranks}}", input.before_ranks);
    rest = base::replace_all(rest, "{{attempt}}", input.job.attempt);
    text += base::replace_all(rest, "{{folder}}", base::quote_shell(input.job.folder.root.string()));
    return text;
}

std::string render_job_environment(const EnvironmentMap& environment) {
    std::string text;
    for (const auto& [name, value] : environment)
        text += "export " + name + "=" + base::quote_shell(value) + "\n";
    return text;
}

base::Status write_job_script(const JobScriptInput& input) {
    const AttemptFolder& folder = input.job.folder;
    WHEELYARD_TRY(
        base::replace_file(folder.environment(), render_job_environment(input.job.environment), 0600));
    return base::replace_file(folder.job_script(), render_job_script(input), 0755);
}

}  // namespace wheelyard::builder
