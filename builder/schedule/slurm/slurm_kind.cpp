// The row of Slurm.
#include "builder/schedule/scheduler_kind.hpp"
#include "builder/schedule/slurm/slurm.hpp"
#include "builder/schedule/slurm/slurm_scheduler.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {
namespace {

constexpr EndReport end_reports[] = {
    {EndCause::unexplained, "COMPLETED without a record, or nothing is known"},
    {EndCause::failed, "FAILED NonZeroExitCode"},
    {EndCause::killed, "FAILED by a signal (`sacct`: 0:9; its reason is None)"},
    {EndCause::time_limit, "TIMEOUT, DEADLINE, or the job was warned"},
    {EndCause::out_of_memory, "OUT_OF_MEMORY"},
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
    add("--export=NONE");
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
