// Runs Slurm's programs. A job whose state cannot be queried is unknown, never vanished.
#include "builder/schedule/slurm/slurm_scheduler.hpp"

#include <unistd.h>

#include "builder/schedule/scheduler.hpp"
#include "builder/schedule/scheduler_kind.hpp"
#include "builder/schedule/slurm/slurm.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/encoding.hpp"
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

// Accounting learns of an end late, or, after a crash of slurmctld, never. What squeue does not list is no
// job.
bool lives(const JobView& view) {
    return view.state == JobState::queued || view.state == JobState::running;
}

bool has_failed(const JobView& view) {
    return view.end && view.end->cause == EndCause::failed;
}

}  // namespace

base::Status SlurmScheduler::submit(const JobRequest& job) {
    WHEELYARD_TRY(write_job_script({job, slurm::render_header(job, settings_), slurm::keep_environment}));
    const auto finished = run_({{"sbatch", "--parsable", job.folder.job_script().string()},
                                submit_environment(agent_, slurm::server_variables, job.environment)});
    if (!finished) return base::fail(no_job_created("Cannot run sbatch", finished.error().text()));
    if (finished->timed_out) return base::fail(job_may_exist("sbatch did not answer in time", job.attempt));
    if (finished->exit_code != 0) return tl::unexpected(slurm::judge_refusal(finished->err));
    // For people; Slurm's programs use the name.
    return base::replace_file(job.folder.job_id(), slurm::parse_submitted(finished->out) + "\n");
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

    std::vector<std::string> asked;  // what squeue has forgotten, or says less of: of steps it knows nothing
    for (const auto& name : names) {
        if (!views.contains(name) || has_failed(views.at(name))) asked.push_back(name);
    }
    if (!asked.empty()) {
        const auto accounted = ask_accounting(asked, attempts);
        for (const auto& name : asked) {
            if (views.contains(name)) {
                const auto better = accounted.value_or(Views());
                const auto found = better.find(name);
                const bool is_memory = found != better.end() && found->second.end &&
                                       found->second.end->cause == EndCause::out_of_memory;
                if (is_memory) views[name] = found->second;
            } else if (!accounted) {
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

// The row of Slurm.
namespace {

constexpr EndReport end_reports[] = {
    {EndCause::unexplained, "COMPLETED without a record, or nothing is known"},
    {EndCause::failed, "FAILED NonZeroExitCode"},
    {EndCause::killed, "FAILED by a signal (`sacct`: 0:9; its reason is None)"},
    {EndCause::time_limit, "TIMEOUT, DEADLINE, or the job was warned"},
    {EndCause::out_of_memory, "OUT_OF_MEMORY, also of a step"},
    {EndCause::node_failure, "NODE_FAIL, BOOT_FAIL"},
    {EndCause::preempted, "PREEMPTED"},
    {EndCause::requeued,
     "queued again (RestartCnt) after the attempt began, or a second run that ended well"},
    {EndCause::cancelled, "CANCELLED"},
    {EndCause::not_launched,
     "FAILED JobLaunchFailure with 0:53, or held after a failed start (`launch failed requeued held` …)"},
    {EndCause::cannot_ever_run,
     "a pending reason that never clears on its own (PartitionTimeLimit, BadConstraints …)"},
};

constexpr MachineQuestion questions[] = {
    {"Slurm", "sbatch --version"},
    {"partitions: time limit, nodes, cores, MiB, GPUs, features",
     "sinfo --noheader --format='%P %l %D %c %m %G %f'"},
    {"accounting",
     "scontrol show config | grep -i -E '^(AccountingStorageType|MinJobAge|EnforcePartLimits)'"},
};

constexpr std::string_view cluster_options[] = {"--clusters", "-M"};  // sbatch(1)

std::unique_ptr<Scheduler> make(const QueueSettings& settings, const EnvironmentMap& agent,
                                const base::Clock& /*clock*/) {
    return std::make_unique<SlurmScheduler>(settings, agent);
}

std::string render_user_header(const UserJob& job) {
    std::string text;
    const auto add = [&text](const std::string& option) { text += "#SBATCH " + option + "\n"; };
    add("--job-name=" + job.name);
    if (job.queue.may_ask(JobPart::nodes)) add("--nodes=" + std::to_string(job.nodes));
    add("--ntasks-per-node=" + std::to_string(job.ranks_per_node));
    if (job.cores_per_rank > 0 && job.queue.may_ask(JobPart::cores))
        add("--cpus-per-task=" + std::to_string(job.cores_per_rank));
    if (job.memory_mib > 0 && job.queue.may_ask(JobPart::memory))
        add("--mem=" + std::to_string(job.memory_mib) + "M");
    add("--time=" + std::to_string(job.max_walltime_minutes));
    if (!job.queue.queue.empty()) add("--partition=" + job.queue.queue);
    if (!job.queue.account.empty()) add("--account=" + job.queue.account);
    if (!job.queue.cluster.empty()) add("--clusters=" + job.queue.cluster);
    if (job.queue.may_ask(JobPart::environment)) add("--export=NONE");
    for (const auto& option : job.queue.all_options())
        add(option);
    return text;
}

std::vector<SiteLine> check(const QueueSettings& settings, bool /*asks_for_gpus*/, const AskMachine& ask) {
    const MachineAnswer answer =
        ask("squeue --noheader --user=\"$(id -un)\" > /dev/null && sbatch --version");
    std::vector<SiteLine> lines = {{"scheduler", answer.good, answer.last_line,
                                    "squeue and sbatch must work on the machine that runs the agent"}};
    if (!answer.good || settings.queue.empty()) return lines;
    const MachineAnswer there =
        ask("test -n \"$(sinfo --noheader --partition=" + base::quote_shell(settings.queue) + ")\"");
    lines.push_back(
        check_available("partition " + settings.queue, there, "`sinfo --summarize` lists what is available"));
    return lines;
}

}  // namespace

extern constinit const SchedulerKind slurm_kind = {
    .name = "slurm",
    .a_job_is = "a batch job",
    .programs = "`sbatch`, `squeue`, `sacct`, `scancel`",
    .make = make,
    .batch =
        BatchSystem{
            .submit = "sbatch",
            .queue_key = "partition",
            .server_variables = slurm::server_variables,
            .cluster_variable = "SLURM_CLUSTERS",
            .cluster_options = cluster_options,
            .render_header = slurm::render_header,
            .render_user_header = render_user_header,
            .check = check,
            .try_job = slurm::try_job,
            .survey = slurm::survey,
            .end_reports = end_reports,
            .questions = questions,
            .job_id_variable = "SLURM_JOB_ID",
            .node_list_variable = "SLURM_JOB_NODELIST",
            .print_first_node = "scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1",
            .ranks = {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
            .launcher = "srun --nodes={nodes} --ntasks={ranks} --ntasks-per-node={ranks_per_node}",
            .before_ranks = slurm::keep_environment,
            .copy_to_nodes = "sbcast --force \"$packed\" \"$local.tar\"",
            .gpus_option = "--gpus-per-node=",
        },
};

}  // namespace wheelyard::builder
