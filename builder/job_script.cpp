// The text of job.sh.
#include "builder/job_script.hpp"

#include <algorithm>

#include "builder/limits.hpp"
#include "lib/base/encoding.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::string_view body = R"sh(
# The job of attempt {{attempt}}: runs script.sh, and tells it when its time is nearly up.
set -u
folder={{folder}}
exec < /dev/null >> "$folder/log" 2>&1
cd "$folder" || exit 73
. "$folder/environment" || exit 73
unset SLURM_EXPORT_ENV # it would keep the environment from steps that the build starts

# Why it was cut, for the agent; then script.sh gets the chance to write its exit record.
build=
told=
cut() {
    told=${told:-$1} # the first word counts
    echo "@@wheelyard told to end: $told"
    echo "$told" > "$folder/cut.aside" && mv "$folder/cut.aside" "$folder/cut"
    test -z "$build" || kill -TERM -- "-$build"
}
trap 'cut time_limit' USR1
trap 'cut terminated' TERM INT

set -m # what runs in the background gets a process group of its own
/bin/bash "$folder/script.sh" &
build=$!
{{alarm}}set +m
test -z "$told" || kill -TERM -- "-$build" # told while it began

# A signal interrupts `wait`; the build may be there still.
while true; do
    wait "$build"
    kill -0 "$build" 2> /dev/null || break
done
wait "$build"
code=$?
{{calm}}kill -KILL -- "-$build" 2> /dev/null # what it left behind
exit "$code"
)sh";

}  // namespace

std::int64_t warning_before_end_s(std::int64_t max_walltime_minutes) {
    return std::clamp(max_walltime_minutes * 60 / 10, min_warning_s, max_warning_s);
}

std::string render_job_script(const JobScriptInput& input) {
    std::string alarm;
    std::string calm;
    const std::int64_t minutes = input.job.max_walltime_minutes;
    if (input.warns_itself && minutes > 0) {
        const std::int64_t after_s = minutes * 60 - warning_before_end_s(minutes);
        alarm = "{ sleep " + std::to_string(after_s) +
                "; kill -USR1 \"$$\"; } & # the batch system does not warn\nalarm=$!\n";
        calm = "kill -KILL -- \"-$alarm\" 2> /dev/null\n";
    }
    std::string text = "#!/bin/bash\n" + input.header;
    std::string rest = base::replace_all(body, "{{alarm}}", alarm);
    rest = base::replace_all(rest, "{{calm}}", calm);
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
