// Runs PBS's programs. A job whose state cannot be queried is unknown, never vanished.
#include "builder/schedule/pbs/pbs_scheduler.hpp"

#include <algorithm>

#include "builder/attempt/limits.hpp"
#include "builder/schedule/pbs/pbs.hpp"
#include "builder/schedule/scheduler.hpp"
#include "builder/schedule/scheduler_kind.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/text/encoding.hpp"
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

// The queue that a job.sh names; empty: none.
std::string queue_in(const AttemptFolder& folder) {
    constexpr std::string_view directive = "#PBS -q ";
    const auto script = base::read_untrusted_file(folder.job_script(), max_record_bytes);
    if (!script) return {};
    std::string queue;
    for (const auto line : base::split_lines(*script)) {
        if (line.starts_with(directive)) queue = base::trim(line.substr(directive.size()));
    }
    return queue;
}

// The job's own alarm (scheduler.hpp) counts the time that was granted: a hook may have changed it. Best
// effort.
void set_alarm(const AttemptFolder& folder, const JobGrant& granted) {
    if (granted.max_walltime_minutes == 0) return;
    const std::string text = std::to_string(alarm_after_s(granted.max_walltime_minutes)) + "\n";
    const auto before = base::read_untrusted_file(folder.alarm(), max_record_bytes);
    if (!before || *before != text) static_cast<void>(base::replace_file(folder.alarm(), text));
}

}  // namespace

base::Status PbsScheduler::submit(const JobRequest& job) {
    WHEELYARD_TRY(write_job_script({job, pbs::render_header(job, settings_), "", true}));
    // Forget the id of an earlier job of this attempt.
    std::error_code ignored;
    std::filesystem::remove(job.folder.job_id(), ignored);
    std::filesystem::remove(job.folder.alarm(), ignored);
    const auto finished = run_({{"qsub", job.folder.job_script().string()},
                                submit_environment(agent_, pbs::server_variables, job.environment)});
    if (!finished) return base::fail(no_job_created("Cannot run qsub", finished.error().text()));
    if (finished->exit_code != 0 || finished->timed_out) return tl::unexpected(pbs::judge_refusal(*finished));
    const std::string_view said = base::trim(finished->out);
    const std::string id(said.substr(said.rfind('\n') + 1));  // a site's wrapper may print more before it
    WHEELYARD_TRY(base::replace_file(job.folder.job_id(), id + "\n"));
    // A short job may end before the next poll.
    if (const auto answer = qstat({id})) static_cast<void>(find_view(*answer, job.attempt, id, job.folder));
    return {};
}

std::optional<JobView> PbsScheduler::find_view(const pbs::Answer& answer, const std::string& attempt,
                                               const std::string& id, const AttemptFolder& folder) const {
    std::optional<JobView> found;
    for (const auto& job : answer.jobs) {
        const bool is_ours = job.owner.empty() || job.owner == user_;
        if (!is_ours || (job.name != attempt && (id.empty() || job.id != id))) continue;
        JobView view = pbs::view_of(job, folder.is_claimed());
        if (view.state == JobState::queued || view.state == JobState::running)
            set_alarm(folder, view.granted);
        if (!found || is_better_view(view, *found)) found = std::move(view);
    }
    return found;
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
    WHEELYARD_ASSIGN(const auto finished, ask({"qselect", "-x", "-u", user_, "-N", attempt}));
    return pbs::read_qselect(finished);
}

JobView PbsScheduler::look_at(const std::string& attempt, const AttemptFolder& folder,
                              std::string& unreachable) const {
    const bool is_claimed = folder.is_claimed();
    std::optional<JobView> found;
    const auto not_known = [&unreachable](const base::Error& error) {
        if (error.kind != base::ErrorKind::malformed) unreachable = error.text();
        return JobView{JobState::unknown, error.text(), {}};
    };
    const auto look = [&](const std::string& id) -> std::optional<JobView> {
        const auto answer = qstat({"-x", id});  // -x: finished jobs too
        if (!answer) return not_known(answer.error());
        auto view = find_view(*answer, attempt, id, folder);
        const bool is_of_other_job = !view && std::any_of(answer->jobs.begin(), answer->jobs.end(),
                                                          [&](const pbs::Job& job) { return job.id == id; });
        if (!view && !is_of_other_job && !answer->unknown.contains(id))
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
    // A job of another submission may live: the agent of another node, which lost the lock meanwhile, made
    // it.
    const auto named = ids_of(attempt);
    if (!named) return not_known(named.error());
    for (const auto& id : *named) {
        if (id == known) continue;
        if (auto unclear = look(id)) return *std::move(unclear);
    }
    if (found) return *std::move(found);
    if (is_claimed)
        return {JobState::vanished,
                std::string("PBS has no job of this name any more") +
                    (has_history_ ? "" : ", and keeps no job history"),
                {}};
    if (!known.empty()) return view_of_dropped(known, folder);
    return {JobState::unclaimed, "PBS has no job of this name", {}};
}

// A routing queue accepts every job, and the server removes one that no destination takes; only its log says
// so.
JobView PbsScheduler::view_of_dropped(const std::string& id, const AttemptFolder& folder) const {
    std::string queue = queue_in(folder);
    if (queue.empty()) {
        const auto server = ask({"qstat", "-B", "-f"});
        if (server) queue = pbs::parse_server_attribute(server->out, "default_queue");
    }
    const auto queues = ask({"qstat", "-Q", "-f"});
    const std::string limits = queues ? pbs::describe_limits(queues->out, queue) : "";
    std::string text = "job " + id;
    if (!queue.empty()) text += " in queue " + queue;
    if (!limits.empty()) text += "; limits: " + limits;
    // With a history it would know a job that has run, however short.
    if (!has_history_) text += "; PBS keeps no job history: it may also have ended before the build began";
    return {JobState::unclaimed, "PBS accepted " + text + ", and does not know it any more",
            JobEnd{EndCause::dropped, {}, text, {}}};
}

// A server that hangs takes a minute for each query: after the first one the others are not asked.
Views PbsScheduler::poll(const std::map<std::string, AttemptFolder>& attempts) {
    Views views;
    std::string unreachable;
    for (const auto& [attempt, folder] : attempts) {
        if (unreachable.empty()) {
            if (const auto kept = base::renew_or_abort(keep_alive); !kept) unreachable = kept.error().text();
        }
        views[attempt] = unreachable.empty() ? look_at(attempt, folder, unreachable)
                                             : JobView{JobState::unknown, unreachable, {}};
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
    if (!finished) return base::fail(cannot_query("Cannot run qdel", attempt));
    const int code = finished->exit_code;
    if (!finished->timed_out && (code == 0 || code == unknown_job || code == finished_job)) return {};
    return base::fail(cannot_query("qdel failed: " + first_words(*finished), attempt));
}

// The row of PBS.
namespace {

constexpr EndReport end_reports[] = {
    {EndCause::unexplained, "Exit_status 0 without a record, or nothing is known"},
    {EndCause::failed, "Exit_status 1 to 128, -24, -25"},
    {EndCause::killed,
     "Exit_status above 128, -19; without job history, any signal that the job caught; or nothing of a job "
     "that was asked to end"},
    {EndCause::time_limit, "Exit_status -29, -28, 137 with all of its `cput` used, or the job's own alarm"},
    {EndCause::out_of_memory, "Exit_status -27, -26, -31"},
    {EndCause::node_failure, "Exit_status -4, -5, -6, -20"},
    {EndCause::preempted, "substate 91, `terminated by Scheduler@HOST`"},
    {EndCause::requeued,
     "queued again after the attempt began, a second run that ended well (a forced `qrerun`), or Exit_status "
     "-11, -12, -15, -18, -32"},
    {EndCause::cancelled, "substate 91, `terminated by USER@HOST`"},
    {EndCause::not_launched, "other negative Exit_status, or `job held, too many failed attempts to run`"},
    {EndCause::cannot_ever_run, "`Can Never Run`"},
    {EndCause::dropped,
     "`Unknown Job Id` of a job that never began to build (a routing queue without a destination for it), or "
     "state F "
     "without Exit_status"},
};

constexpr MachineQuestion questions[] = {
    {"PBS", "qstat --version"},
    {"queues", "qstat -Q -f"},
};

std::unique_ptr<Scheduler> make(const QueueSettings& settings, const EnvironmentMap& agent,
                                const base::Clock& /*clock*/) {
    return std::make_unique<PbsScheduler>(settings, agent);
}

std::string render_user_header(const UserJob& job) {
    std::string text;
    const auto add = [&text](const std::string& option) { text += "#PBS " + option + "\n"; };
    add("-N " + job.name);
    add("-j oe");
    const int cores = job.cores_per_rank > 0   ? job.cores_per_rank * job.ranks_per_node
                      : job.cores_per_node > 0 ? job.cores_per_node
                                               : job.ranks_per_node;
    std::string select = "-l select=" + std::to_string(job.nodes);
    if (job.queue.may_ask(JobPart::cores)) select += ":ncpus=" + std::to_string(cores);
    select += ":mpiprocs=" + std::to_string(job.ranks_per_node);
    if (job.gpus_per_node > 0 && job.queue.may_ask(JobPart::gpus))
        select += ":ngpus=" + std::to_string(job.gpus_per_node);
    if (job.memory_mib > 0 && job.queue.may_ask(JobPart::memory))
        select += ":mem=" + std::to_string(job.memory_mib) + "mb";
    add(select + pbs::more_of_chunk(job.queue));
    add("-l walltime=" + pbs::walltime(job.max_walltime_minutes));
    if (!job.queue.queue.empty()) add("-q " + job.queue.queue);
    if (!job.queue.account.empty()) add("-A " + job.queue.account);
    for (const auto& option : job.queue.all_options())
        add(option);
    return text;
}

// Jobs also work without history (pbs_scheduler.hpp).
SiteLine check_job_history(const AskMachine& ask) {
    const MachineAnswer answer = ask("qselect -x -u \"$(id -un)\" > /dev/null");
    const bool off = answer.last_line.find("not configured to maintain job history") != std::string::npos;
    return {"job history", answer.good || off,
            answer.good ? "kept"
            : off ? "not kept: a job that ends without a record counts as job.vanished, and is tried again "
                    "even after "
                    "a qdel (the server's job_history_enable changes this)"
                  : answer.last_line,
            "qselect must work on the machine that runs the agent"};
}

SiteLine check_gpu_resource(const AskMachine& ask) {
    const MachineAnswer nodes = ask("pbsnodes -av");
    const bool known = nodes.out.find("resources_available.ngpus = ") != std::string::npos;
    return {"resource ngpus", known || !nodes.good,
            known        ? "available"
            : nodes.good ? "no node has it: PBS rejects a job that asks for it"
                         : "not checked: " + nodes.last_line,
            "set gpus = 0, and ask for GPUs as this site does in `options`"};
}

std::vector<SiteLine> check(const QueueSettings& settings, bool asks_for_gpus, const AskMachine& ask) {
    const MachineAnswer answer = ask("qstat -B && qsub --version");
    std::vector<SiteLine> lines = {{"scheduler", answer.good, answer.last_line,
                                    "qstat and qsub must work on the machine that runs the agent"}};
    if (!answer.good) return lines;
    lines.push_back(check_job_history(ask));
    if (asks_for_gpus) lines.push_back(check_gpu_resource(ask));
    if (settings.queue.empty()) return lines;
    lines.push_back(check_available("queue " + settings.queue,
                                    ask("qstat -Q " + base::quote_shell(settings.queue)),
                                    "`qstat -Q` lists what is available"));
    return lines;
}

}  // namespace

extern constinit const SchedulerKind pbs_kind = {
    .name = "pbs",
    .a_job_is = "a batch job",
    .programs = "`qsub`, `qstat`, `qselect`, `qdel`",
    .make = make,
    .batch =
        BatchSystem{
            .submit = "qsub",
            .queue_key = "queue",
            .server_variables = pbs::server_variables,
            .has_chunks = true,
            .render_header = pbs::render_header,
            .render_user_header = render_user_header,
            .check = check,
            .try_job = pbs::try_job,
            .survey = pbs::survey,
            .end_reports = end_reports,
            .questions = questions,
            .job_id_variable = "PBS_JOBID",
            .node_list_variable = "PBS_NODEFILE",
            .print_first_node = "head -n 1 \"$PBS_NODEFILE\"",
        },
};

}  // namespace wheelyard::builder
