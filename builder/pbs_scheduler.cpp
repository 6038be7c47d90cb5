// Asks PBS's programs. What cannot be asked is unknown, never gone.
#include "builder/pbs_scheduler.hpp"

#include "builder/job_script.hpp"
#include "builder/limits.hpp"
#include "lib/base/file.hpp"
#include "lib/base/text.hpp"

namespace wheelyard::builder {
namespace {

using Views = std::map<std::string, JobView>;

constexpr int unknown_job = 153;  // of qdel, too
constexpr int finished_job = 35;

// The number that PBS gave the attempt's latest job; "" when nobody noted one.
std::string known_id(const AttemptFolder& folder) {
    const auto text = base::read_file(folder.job_id(), largest_record_bytes);
    return text ? std::string(base::trim(*text)) : "";
}

bool is_claimed(const AttemptFolder& folder) {
    std::error_code error;
    return std::filesystem::exists(folder.claim(), error);
}

int rank(const JobView& view) {
    if (view.state != JobState::vanished) return 2;
    return view.end && view.end->cause != EndCause::unexplained ? 1 : 0;
}

// Of two jobs of one name the one that did the work, as in Slurm's.
std::optional<JobView> find_view(const pbs::Answer& answer, const std::string& attempt,
                                 const std::string& id) {
    std::optional<JobView> found;
    for (const auto& job : answer.jobs) {
        if (job.name != attempt && (id.empty() || job.id != id)) continue;
        JobView view = pbs::view_of(job);
        if (!found || rank(view) >= rank(*found)) found = std::move(view);
    }
    return found;
}

}  // namespace

base::Status PbsScheduler::submit(const JobRequest& job) {
    WHEELYARD_TRY(write_job_script({job, pbs::render_header(job, settings_), true}));
    // The number of an earlier job of this attempt is of no use any more.
    std::error_code ignored;
    std::filesystem::remove(job.folder.job_id(), ignored);
    const auto finished =
        run_({{"qsub", job.folder.job_script().string()}, submit_environment(agent_, job.environment)});
    if (!finished) return base::fail("scheduler.not_now", "qsub cannot be started", finished.error().text());
    if (finished->exit_code != 0 || finished->timed_out) return tl::unexpected(pbs::judge_refusal(*finished));
    return base::replace_file(job.folder.job_id(), std::string(base::trim(finished->out)) + "\n");
}

base::Result<pbs::Answer> PbsScheduler::qstat(const std::vector<std::string>& arguments) const {
    std::vector<std::string> argv = {"qstat", "-f", "-F", "json"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    WHEELYARD_ASSIGN(const auto finished, run_({argv, batch_environment(agent_)}));
    return pbs::read_qstat(finished);
}

JobView PbsScheduler::look_at(const std::string& attempt, const AttemptFolder& folder) const {
    const std::string id = known_id(folder);
    // With -x also what has finished; without a number all of that has to be asked for.
    const auto answer =
        qstat(id.empty() ? std::vector<std::string>{"-x"} : std::vector<std::string>{"-x", id});
    if (!answer) return {JobState::unknown, answer.error().text(), {}};
    if (auto view = find_view(*answer, attempt, id)) return std::move(*view);
    if (!id.empty() && !answer->unknown.contains(id))
        return {JobState::unknown, "PBS said nothing of job " + id, {}};
    if (is_claimed(folder)) return {JobState::vanished, "PBS knows no job of this name any more", {}};
    return {JobState::unclaimed, "PBS knows no job of this name", {}};
}

Views PbsScheduler::poll(const std::map<std::string, AttemptFolder>& attempts) {
    Views views;
    if (attempts.size() > 1) {
        // One question for all that wait or run. Asked for several numbers, a real qstat -F json answers the
        // first one only (tests/builder/pbs/qstat_several_json.txt), so it is asked for all jobs.
        const auto answer = qstat({});
        for (const auto& [attempt, folder] : attempts) {
            if (!answer) {
                views[attempt] = {JobState::unknown, answer.error().text(), {}};
            } else if (auto view = find_view(*answer, attempt, known_id(folder))) {
                views[attempt] = std::move(*view);
            }
        }
    }
    for (const auto& [attempt, folder] : attempts) {
        if (!views.contains(attempt)) views[attempt] = look_at(attempt, folder);
    }
    return views;
}

base::Status PbsScheduler::cancel(const std::string& attempt, const AttemptFolder& folder) {
    std::vector<std::string> argv = {"qdel"};
    if (const std::string id = known_id(folder); !id.empty()) {
        argv.push_back(id);
    } else {
        WHEELYARD_ASSIGN(const auto answer, qstat({}));
        for (const auto& job : answer.jobs) {
            if (job.name == attempt) argv.push_back(job.id);
        }
    }
    if (argv.size() == 1) return {};
    const auto finished = run_({argv, batch_environment(agent_)});
    if (!finished) return base::fail("scheduler.unavailable", "qdel cannot be started", attempt);
    const int code = finished->exit_code;
    if (!finished->timed_out && (code == 0 || code == unknown_job || code == finished_job)) return {};
    return base::fail("scheduler.unavailable", "qdel did not succeed: " + first_words(*finished), attempt);
}

}  // namespace wheelyard::builder
