// Chooses between two jobs of the same name, and makes the errors of a batch system that cannot serve now.
#include "builder/schedule/scheduler.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

namespace {

int rank(const JobView& view) {
    switch (view.state) {
        case JobState::running:
            return 4;
        case JobState::queued:
            return 3;
        case JobState::unknown:
            return 2;
        case JobState::vanished:
            return view.end && view.end->cause != EndCause::unexplained ? 1 : 0;
        case JobState::unclaimed:
            return -1;
    }
    return -1;
}

base::Error passing(base::ErrorKind kind, const char* code, std::string sentence, std::string value) {
    return base::fail_as(kind, base::Recovery::retry, {code, std::move(sentence), std::move(value)}).value();
}

}  // namespace

base::Error no_job_created(std::string sentence, std::string value) {
    return passing(base::ErrorKind::unavailable, "scheduler.not_now", std::move(sentence), std::move(value));
}

base::Error request_refused(std::string sentence, std::string value, const std::string& keys) {
    return {"scheduler.refused", std::move(sentence), std::move(value),
            "fix " + keys + ", then run: wheelyard-builder retry"};
}

base::Error job_may_exist(std::string sentence, std::string value) {
    return passing(base::ErrorKind::unreachable, "scheduler.unsure", std::move(sentence), std::move(value));
}

base::Error cannot_query(std::string sentence, std::string value) {
    return passing(base::ErrorKind::unreachable, "scheduler.unavailable", std::move(sentence),
                   std::move(value));
}

std::string own_user_name() {
    return base::user_name(::geteuid());
}

bool is_better_view(const JobView& one, const JobView& other) {
    return rank(one) >= rank(other);
}

namespace templates {  // templates/NAME

extern const std::string_view job;
// The batch system sends no warning, so the job sets an alarm. A signal of the batch system reaches every
// process of the job in no fixed order, so a `sleep` that ends early must not raise the alarm. Short sleeps
// count the job's time: while a job is suspended, the clock runs on, but its time limit does not.
extern const std::string_view alarm;

}  // namespace templates

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
        alarm = base::replace_all(templates::alarm, "{{seconds}}", std::to_string(alarm_after_s(minutes)));
        stop_alarm = "kill -KILL -- \"-$alarm\" 2> /dev/null\n";
    }
    std::string text = "#!/bin/bash\n" + input.header;
    std::string rest = base::replace_all(templates::job, "{{alarm}}", alarm);
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
