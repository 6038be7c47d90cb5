// The row of PBS.
#include "builder/schedule/pbs/pbs.hpp"
#include "builder/schedule/pbs/pbs_scheduler.hpp"
#include "builder/schedule/pbs/pbs_survey.hpp"
#include "builder/schedule/scheduler_kind.hpp"
#include "lib/base/text/encoding.hpp"

namespace wheelyard::builder {
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
    add(select);
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
