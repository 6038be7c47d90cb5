// Runs Slurm's programs. A job whose state cannot be queried is unknown, never vanished.
#include "builder/schedule/slurm/slurm_scheduler.hpp"

#include <unistd.h>

#include "builder/schedule/job_script.hpp"
#include "builder/schedule/slurm/slurm.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr int accounting_days = 60;  // how far back sacct searches

using Views = std::map<std::string, JobView>;

std::string own_user() {
    return std::to_string(::geteuid());
}

void note_job(Views& views, const slurm::Job& job, bool is_claimed) {
    JobView view = slurm::view_of(job, is_claimed);
    const auto [at, added] = views.try_emplace(job.name, view);
    if (!added && is_better_view(view, at->second)) at->second = std::move(view);
}

// Accounting learns of an end late, or, after a crash of slurmctld, never. What squeue does not list is no job.
bool lives(const JobView& view) {
    return view.state == JobState::queued || view.state == JobState::running;
}

}  // namespace

base::Status SlurmScheduler::submit(const JobRequest& job) {
    WHEELYARD_TRY(write_job_script({job, slurm::render_header(job, settings_), slurm::keep_environment}));
    const auto finished = run_({{"sbatch", "--parsable", job.folder.job_script().string()},
                                submit_environment(agent_, slurm::server_variables, job.environment)});
    if (!finished) return base::fail(no_job_created("Cannot run sbatch", finished.error().text()));
    if (finished->timed_out) return base::fail(job_may_exist("sbatch did not answer in time", job.attempt));
    if (finished->exit_code != 0) return tl::unexpected(slurm::judge_refusal(finished->err));
    const std::string number(base::trim(finished->out.substr(0, finished->out.find(';'))));
    return base::replace_file(job.folder.job_id(),
                              number + "\n");  // for people; Slurm's programs use the name
}

base::Result<Views> SlurmScheduler::ask_accounting(
    const std::vector<std::string>& names, const std::map<std::string, AttemptFolder>& attempts) const {
    const auto finished = run_(
        {{"sacct", "--noheader", "--parsable2", "--duplicates", "--user=" + own_user(),
          "--name=" + base::join(names, ","), "--starttime=now-" + std::to_string(accounting_days) + "days",
          "--format=" + std::string(slurm::sacct_format)},
         batch_environment(agent_, slurm::output_variables)});
    if (!finished) return tl::unexpected(finished.error());
    if (finished->err.find("accounting storage is disabled") != std::string::npos) return Views();
    if (finished->exit_code != 0 || finished->timed_out)
        return base::fail(cannot_query("sacct is not available", first_words(*finished)));
    WHEELYARD_ASSIGN(const auto jobs, slurm::parse_sacct(finished->out));
    Views views;
    for (const auto& job : jobs) {
        const auto attempt = attempts.find(job.name);
        note_job(views, job, attempt != attempts.end() && attempt->second.is_claimed());
    }
    return views;
}

Views SlurmScheduler::poll(const std::map<std::string, AttemptFolder>& attempts) {
    std::vector<std::string> names;
    for (const auto& [attempt, folder] : attempts)
        names.push_back(attempt);
    const auto all_unknown = [&attempts](const std::string& why) {
        Views views;
        for (const auto& [attempt, folder] : attempts)
            views.emplace(attempt, JobView{JobState::unknown, "Slurm is not available: " + why, {}});
        return views;
    };
    const auto finished =
        run_({{"squeue", "--noheader", "--all", "--states=all", "--user=" + own_user(),
               "--name=" + base::join(names, ","), "--Format=" + std::string(slurm::squeue_format)},
              batch_environment(agent_, slurm::output_variables)});
    if (!finished) return all_unknown(finished.error().text());
    if (finished->exit_code != 0 || finished->timed_out) return all_unknown(first_words(*finished));
    const auto jobs = slurm::parse_squeue(finished->out);
    if (!jobs) return all_unknown(jobs.error().text());
    Views views;
    for (const auto& job : *jobs) {
        if (const auto attempt = attempts.find(job.name); attempt != attempts.end())
            note_job(views, job, attempt->second.is_claimed());
    }

    std::vector<std::string> forgotten;
    for (const auto& name : names) {
        if (!views.contains(name)) forgotten.push_back(name);
    }
    if (!forgotten.empty()) {
        const auto accounted = ask_accounting(forgotten, attempts);
        for (const auto& name : forgotten) {
            if (!accounted) {
                views[name] = {JobState::unknown, "Slurm is not available: " + accounted.error().text(), {}};
            } else if (const auto found = accounted->find(name);
                       found != accounted->end() && !lives(found->second)) {
                views[name] = found->second;
            } else {
                const bool is_claimed = attempts.at(name).is_claimed();
                views[name] = {is_claimed ? JobState::vanished : JobState::unclaimed,
                               "squeue lists no job of this name",
                               {}};
                if (found != accounted->end()) views[name].detail += "; accounting: " + found->second.detail;
            }
        }
    }
    return views;
}

base::Status SlurmScheduler::cancel(const std::string& attempt, const AttemptFolder&) {
    const auto finished = run_({{"scancel", "--user=" + own_user(), "--name=" + attempt},
                                batch_environment(agent_, slurm::output_variables)});
    if (!finished) return base::fail(cannot_query("Cannot run scancel", attempt));
    if (finished->exit_code == 0 && !finished->timed_out) return {};
    return base::fail(cannot_query("scancel failed: " + first_words(*finished), attempt));
}

}  // namespace wheelyard::builder
