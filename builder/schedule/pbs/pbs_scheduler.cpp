// Runs PBS's programs. A job whose state cannot be queried is unknown, never vanished.
#include "builder/schedule/pbs/pbs_scheduler.hpp"

#include "builder/attempt/limits.hpp"
#include "builder/schedule/job_script.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

using Views = std::map<std::string, JobView>;

constexpr int unknown_job = 153;  // exit status of qdel and qstat
constexpr int finished_job = 35;

// The id of the attempt's latest job; "" if none was recorded.
std::string known_id(const AttemptFolder& folder) {
    const auto text = base::read_untrusted_file(folder.job_id(), max_record_bytes);
    return text ? std::string(base::trim(*text)) : "";
}

std::optional<JobView> find_view(const pbs::Answer& answer, const std::string& attempt, const std::string& id,
                                 bool is_claimed) {
    std::optional<JobView> found;
    for (const auto& job : answer.jobs) {
        if (job.name != attempt && (id.empty() || job.id != id)) continue;
        JobView view = pbs::view_of(job, is_claimed);
        if (!found || is_better_view(view, *found)) found = std::move(view);
    }
    return found;
}

}  // namespace

base::Status PbsScheduler::submit(const JobRequest& job) {
    WHEELYARD_TRY(write_job_script({job, pbs::render_header(job, settings_), "", true}));
    // Forget the id of an earlier job of this attempt.
    std::error_code ignored;
    std::filesystem::remove(job.folder.job_id(), ignored);
    const auto finished = run_({{"qsub", job.folder.job_script().string()},
                                submit_environment(agent_, pbs::server_variables, job.environment)});
    if (!finished) return base::fail(no_job_created("cannot run qsub", finished.error().text()));
    if (finished->exit_code != 0 || finished->timed_out) return tl::unexpected(pbs::judge_refusal(*finished));
    return base::replace_file(job.folder.job_id(), std::string(base::trim(finished->out)) + "\n");
}

// A server without job history refuses -x.
base::Result<base::Finished> PbsScheduler::ask(std::vector<std::string> argv) const {
    if (has_history_) {
        WHEELYARD_ASSIGN(auto finished, run_({argv, batch_environment(agent_, pbs::output_variables)}));
        if (!pbs::lacks_history(finished)) return finished;
        has_history_ = false;
    }
    std::erase(argv, "-x");
    return run_({argv, batch_environment(agent_, pbs::output_variables)});
}

base::Result<pbs::Answer> PbsScheduler::qstat(const std::vector<std::string>& arguments) const {
    std::vector<std::string> argv = {"qstat", "-f", "-F", "json"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    WHEELYARD_ASSIGN(const auto finished, ask(std::move(argv)));
    return pbs::read_qstat(finished);
}

base::Result<std::vector<std::string>> PbsScheduler::ids_of(const std::string& attempt) const {
    WHEELYARD_ASSIGN(const auto finished, ask({"qselect", "-x", "-N", attempt}));
    return pbs::read_qselect(finished);
}

// One query per job, so that another user's job with invalid JSON does not hide ours.
JobView PbsScheduler::look_at(const std::string& attempt, const AttemptFolder& folder) const {
    const bool is_claimed = folder.is_claimed();
    std::optional<JobView> found;
    const auto look = [&](const std::string& id) -> std::optional<JobView> {
        const auto answer = qstat({"-x", id});  // -x: finished jobs too
        if (!answer) return JobView{JobState::unknown, answer.error().text(), {}};
        auto view = find_view(*answer, attempt, id, is_claimed);
        if (!view && !answer->unknown.contains(id))
            return JobView{JobState::unknown, "PBS did not report job " + id, {}};
        if (view && (!found || is_better_view(*view, *found))) found = std::move(view);
        return std::nullopt;
    };
    const std::string known = known_id(folder);
    if (!known.empty()) {
        if (auto unclear = look(known)) return *std::move(unclear);
        if (found && (found->state == JobState::queued || found->state == JobState::running))
            return *std::move(found);
    }
    // A job of another submission may live: the agent of another node, which lost the lock meanwhile, made it.
    const auto named = ids_of(attempt);
    if (!named) return {JobState::unknown, named.error().text(), {}};
    for (const auto& id : *named) {
        if (id == known) continue;
        if (auto unclear = look(id)) return *std::move(unclear);
    }
    if (found) return *std::move(found);
    if (is_claimed && !has_history_) {
        return {JobState::vanished, "PBS has no job of this name any more, and keeps no job history",
                JobEnd{EndCause::unexplained, {}, "PBS keeps no job history", {}}};
    }
    if (is_claimed) return {JobState::vanished, "PBS has no job of this name any more", {}};
    return {JobState::unclaimed, "PBS has no job of this name", {}};
}

Views PbsScheduler::poll(const std::map<std::string, AttemptFolder>& attempts) {
    Views views;
    if (attempts.size() > 1) {
        // One query for all jobs that wait or run. Given several ids, a real `qstat -F json` reports only the
        // first one (tests/builder/schedule/data/pbs/qstat_several_json.txt), so all jobs are queried.
        const auto answer = qstat({});
        for (const auto& [attempt, folder] : attempts) {
            if (!answer) {
                if (answer.error().kind != base::ErrorKind::malformed)
                    views[attempt] = {JobState::unknown, answer.error().text(), {}};
            } else if (auto view = find_view(*answer, attempt, known_id(folder), folder.is_claimed())) {
                views[attempt] = std::move(*view);
            }
        }
    }
    for (const auto& [attempt, folder] : attempts) {
        if (!views.contains(attempt)) views[attempt] = look_at(attempt, folder);
    }
    return views;
}

// Also deletes all jobs of this name: the id of an earlier submission may not have been recorded.
base::Status PbsScheduler::cancel(const std::string& attempt, const AttemptFolder& folder) {
    const std::string known = known_id(folder);
    std::vector<std::string> argv = {"qdel"};
    if (!known.empty()) argv.push_back(known);
    const auto named = ids_of(attempt);
    if (!named && known.empty()) return tl::unexpected(named.error());
    for (const auto& id : named ? *named : std::vector<std::string>()) {
        if (id != known) argv.push_back(id);
    }
    if (argv.size() == 1) return {};
    const auto finished = run_({argv, batch_environment(agent_, pbs::output_variables)});
    if (!finished) return base::fail(cannot_query("cannot run qdel", attempt));
    const int code = finished->exit_code;
    if (!finished->timed_out && (code == 0 || code == unknown_job || code == finished_job)) return {};
    return base::fail(cannot_query("qdel failed: " + first_words(*finished), attempt));
}

}  // namespace wheelyard::builder
