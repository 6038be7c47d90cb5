// Slurm's states, reasons and refusals, each as a table.
#include "builder/schedule/slurm/slurm.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "builder/attempt/limits.hpp"
#include "builder/schedule/batch_command.hpp"
#include "builder/schedule/scheduler.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::builder::slurm {
namespace {

struct StateRow {
    std::string_view state;
    JobState view;   // vanished: it has ended, though Slurm still lists it
    EndCause cause;  // of a job that has ended
    bool suspended = false;
};
constexpr EndCause none = EndCause::unexplained;
constexpr std::array<StateRow, 29> states = {{
    {"PENDING", JobState::queued, none},
    {"CONFIGURING", JobState::queued, none},
    {"POWER_UP_NODE", JobState::queued, none},
    {"EXPEDITING", JobState::queued, none},
    {"REQUEUED", JobState::queued, none},
    {"REQUEUE_FED", JobState::queued, none},
    {"REQUEUE_HOLD", JobState::queued, none},
    {"RESV_DEL_HOLD", JobState::queued, none},
    {"SPECIAL_EXIT", JobState::queued, none},
    {"RUNNING", JobState::running, none},
    {"COMPLETING", JobState::running, none},
    {"RESIZING", JobState::running, none},
    {"SIGNALING", JobState::running, none},
    {"STAGE_OUT", JobState::running, none},
    {"UPDATE_DB", JobState::running, none},
    {"STOPPED", JobState::running, none, true},
    {"SUSPENDED", JobState::running, none, true},
    {"COMPLETED", JobState::vanished, none},
    {"REVOKED", JobState::vanished, none},
    {"FAILED", JobState::vanished, EndCause::failed},
    {"TIMEOUT", JobState::vanished, EndCause::time_limit},
    {"DEADLINE", JobState::vanished, EndCause::time_limit},
    {"OUT_OF_MEMORY", JobState::vanished, EndCause::out_of_memory},
    {"NODE_FAIL", JobState::vanished, EndCause::node_failure},
    {"BOOT_FAIL", JobState::vanished, EndCause::node_failure},
    {"PREEMPTED", JobState::vanished, EndCause::preempted},
    {"CANCELLED", JobState::vanished, EndCause::cancelled},
    {"LAUNCH_FAILED", JobState::vanished, EndCause::not_launched},
    {"RECONFIG_FAIL", JobState::vanished, EndCause::not_launched},
}};

// Pending reasons that never clear on their own (job_state_reason.c, as in 24.11). All others (Resources,
// Priority, a limit on running jobs, a hold, a partition that is down) clear, or a person set them on
// purpose.
constexpr std::array<std::string_view, 9> hopeless = {
    "AccountNotAllowed", "BadConstraints",     "DependencyNeverSatisfied", "InvalidAccount", "InvalidQOS",
    "MaxMemPerLimit",    "PartitionNodeLimit", "PartitionTimeLimit",       "QOSNotAllowed",
};
// Holds of Slurm's own after a start that failed. Nobody releases them.
constexpr std::array<std::string_view, 3> start_failed = {
    "launch_failed_requeued_held", "user_env_retrieval_failed_requeued_held", "JobHoldMaxRequeue"};

// A limit of a single job: "QOSMaxGRESPerJob", "AssocMaxMemPerNode", "QOSMinCpuNotSatisfied".
bool is_limit_of_one_job(std::string_view reason) {
    const auto contains = [reason](std::string_view part) {
        return reason.find(part) != std::string_view::npos;
    };
    return reason.starts_with("QOSMin") ||
           ((reason.starts_with("QOSMax") || reason.starts_with("AssocMax")) &&
            (contains("PerJob") || contains("PerNode")));
}

bool is_hopeless(std::string_view reason) {
    return is_limit_of_one_job(reason) ||
           std::find(hopeless.begin(), hopeless.end(), reason) != hopeless.end();
}

// Why a queued job will not start, if nothing but a new job helps.
std::optional<EndCause> end_of_queued(const Job& job) {
    // Some versions print it with spaces.
    const std::string reason = base::replace_all(job.reason, " ", "_");
    if (is_hopeless(reason)) return EndCause::cannot_ever_run;
    if (std::find(start_failed.begin(), start_failed.end(), reason) != start_failed.end())
        return EndCause::not_launched;
    return std::nullopt;
}

// How the message of slurmctld begins, in the line "Batch job submission failed: …" (texts of
// slurm_strerror(), src/common/slurm_errno.c, as in 22.05). All others may pass: a job_submit plugin refuses
// with text of its own and "Unspecified error"; a budget is renewed, a user is added to an account; a
// controller is down.
constexpr std::array<std::string_view, 34> refusals = {
    "Invalid partition name specified",
    "No partition specified or system default partition",
    "Requested nodes not in this partition",
    "More processors requested than permitted",
    "Node count specification invalid",
    "Job size specification needs to be provided",
    "Requested node configuration is not available",
    "Requested topology configuration is not available",
    "Requested operation not supported on this system",
    "Requested time limit is invalid",
    "Requested GRES option unsupported",
    "Invalid node name specified",
    "Task distribution specification invalid",
    "Task count specification invalid",
    "CPU count specification invalid",
    "Invalid feature specification",
    "Invalid preferred feature specification",
    "Memory required by task is not available",
    "Invalid license specification",
    "Invalid generic resource (gres) specification",
    "Invalid GRES specification",
    "Duplicate generic resource (gres) specification",
    "Insufficient GRES available in allocation",
    "Invalid Trackable RESource (TRES) specification",
    "Invalid time specified",
    "Invalid time-min specification",
    "Invalid --nice value",
    "Invalid job array specification",
    "Job --batch option is invalid",
    "Job dependency problem",
    "Multiple KNL NUMA",
    "Cannot request more threads per core",
    "Pathname of a file, directory or other parameter too long",
    "Burst Buffer request invalid",
};
// The same of sbatch itself, which could not even ask: its options (src/common/slurm_opt.c, getopt(3)).
constexpr std::array<std::string_view, 7> own_refusals = {
    "unrecognized option", "invalid option",        "option '",
    "Invalid --",          "Invalid numeric value", "Invalid directive found in batch script",
    "invalid number of",
};
// The line with slurmctld's answer; the second of `sbatch --test-only`.
constexpr std::array<std::string_view, 2> answers = {"Batch job submission failed: ", "allocation failure: "};
constexpr std::array<std::string_view, 3> programs = {"sbatch: error: ", "sbatch: fatal: ", "sbatch: "};
constexpr std::string_view by_policy = "Job violates accounting/QOS policy";

// Removes the first of `beginnings` that the line has; returns whether it had one.
bool strip_one(std::string_view& line, std::span<const std::string_view> beginnings) {
    for (const auto beginning : beginnings) {
        if (!line.starts_with(beginning)) continue;
        line.remove_prefix(beginning.size());
        return true;
    }
    return false;
}

bool begins_with_one(std::string_view line, std::span<const std::string_view> texts) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](std::string_view text) { return line.starts_with(text); });
}
// The answer was lost; the job may exist.
constexpr std::array<std::string_view, 5> unsure = {"Socket timed out", "Zero Bytes", "Transport endpoint",
                                                    "Unexpected message received",
                                                    "Communication connection failure"};

constexpr std::uint64_t max_signal = 31;  // 53, 125 and similar are internal codes of Slurm's

// The signal in a wait(2) status as squeue prints it, with or without a core; 0: none.
int signal_of(std::uint64_t status) {
    constexpr std::uint64_t has_core = 128;
    const std::uint64_t number = status % has_core;
    return status < 2 * has_core && number <= max_signal ? static_cast<int>(number) : 0;
}

// Otherwise it is 256 times the exit code. Slurm's internal codes (253, 4021) are neither.
std::optional<int> decode_wait_status(std::uint64_t status) {
    if (status % 256 == 0 && status / 256 < 256) return static_cast<int>(status / 256);
    if (const int number = signal_of(status)) return 128 + number;
    return std::nullopt;
}

// sacct's "3:0" or "0:9".
void note_exit_pair(Job& job, std::string_view text) {
    const auto parts = base::split(text, ':');
    if (parts.size() != 2) return;
    const auto code = base::parse_decimal(parts[0]);
    const auto signal = base::parse_decimal(parts[1]);
    if (!code || !signal || *code > 255 || *signal > max_signal) return;
    job.by_signal = *signal != 0;
    job.exit_code = job.by_signal ? 128 + static_cast<int>(*signal) : static_cast<int>(*code);
}

tl::unexpected<base::Error> unparsable_line(std::string_view program, std::string_view line) {
    return base::fail("scheduler.answer", std::string(program) + " printed a line that cannot be parsed",
                      std::string(base::cut_utf8(line, max_error_line_bytes)));
}

// The kernel may kill a process of a step that `srun` began: the job itself has only failed.
void note_step(Job& job, std::string_view state, std::int64_t memory_kib) {
    job.used.memory_kib = std::max(job.used.memory_kib, memory_kib);
    job.step_out_of_memory = job.step_out_of_memory || state == "OUT_OF_MEMORY";
}

EndCause cause_of_failure(const Job& job) {
    if (job.step_out_of_memory) return EndCause::out_of_memory;
    if (job.reason == "BadConstraints") return EndCause::cannot_ever_run;
    if (job.reason == "TimeLimit") return EndCause::time_limit;
    if (job.reason == "NodeDown") return EndCause::node_failure;
    // Decided by the exit code, because the reason varies: JobLaunchFailure in squeue, None in sacct,
    // RaisedSignal in later versions.
    if (job.by_signal) return EndCause::killed;
    // Slurm's internal code (0:53): the node cannot open a folder or an output file.
    if (!job.exit_code) return EndCause::not_launched;
    return EndCause::failed;
}

}  // namespace

base::Result<std::vector<Job>> parse_squeue(std::string_view text) {
    // Of squeue_format; a line may end before the last two.
    enum : std::size_t { id, name, state, reason, status, elapsed, node, restarts, limit };
    std::vector<Job> jobs;
    for (const auto line : base::split_lines(text)) {
        if (base::trim(line).empty()) continue;
        const auto parts = base::split(line, '|');
        if (parts.size() <= node) return unparsable_line("squeue", line);
        Job job;
        job.id = parts[id];
        job.name = parts[name];
        job.state = parts[state];
        job.reason = parts[reason];
        if (const auto ended = base::parse_decimal(parts[status])) {
            job.exit_code = decode_wait_status(*ended);
            job.by_signal = signal_of(*ended) != 0;
        }
        job.used.seconds = parse_elapsed_s(parts[elapsed]);
        job.node = parts[node];
        if (parts.size() > restarts) job.restarts = base::parse_decimal(parts[restarts]).value_or(0);
        if (parts.size() > limit)
            job.granted.max_walltime_minutes = parse_elapsed_s(parts[limit]) / s_per_minute;
        jobs.push_back(std::move(job));
    }
    return jobs;
}

base::Result<std::vector<Job>> parse_sacct(std::string_view text) {
    enum : std::size_t { id, name, state, reason, exit_pair, elapsed, cpu, memory, node };  // of sacct_format
    std::vector<Job> jobs;
    for (const auto line : base::split_lines(text)) {
        if (base::trim(line).empty()) continue;
        const auto parts = base::split(line, '|');
        if (parts.size() <= node) return unparsable_line("sacct", line);
        const std::int64_t memory_kib = parse_size_kib(parts[memory]);
        if (parts[id].find('.') != std::string_view::npos) {  // a step of the preceding job: "14.batch"
            if (!jobs.empty() && parts[id].starts_with(jobs.back().id + "."))
                note_step(jobs.back(), parts[state], memory_kib);
            continue;
        }
        Job job;
        job.id = parts[id];
        job.name = parts[name];
        job.state = parts[state].substr(0, parts[state].find(' '));  // "CANCELLED by 0"
        job.reason = parts[reason];
        note_exit_pair(job, parts[exit_pair]);
        job.used = {parse_elapsed_s(parts[elapsed]), parse_elapsed_s(parts[cpu]), memory_kib};
        job.node = parts[node];
        const auto earlier =
            std::find_if(jobs.begin(), jobs.end(), [&job](const Job& one) { return one.id == job.id; });
        if (earlier != jobs.end()) {
            job.restarts = earlier->restarts + 1;
            jobs.erase(earlier);
        }
        jobs.push_back(std::move(job));
    }
    return jobs;
}

JobView view_of(const Job& job, bool is_claimed) {
    const std::string reason = job.reason.empty() || job.reason == "None" ? "" : " " + job.reason;
    const std::string where = job.node.empty() || job.node == "None assigned" ? "" : " on " + job.node;
    const std::string detail = "Slurm job " + job.id + where + ", " + job.state + reason;
    const auto* row = std::find_if(states.begin(), states.end(),
                                   [&](const StateRow& one) { return one.state == job.state; });
    if (row == states.end()) return {JobState::unknown, detail, {}};
    JobView view{row->view, detail, {}, row->suspended, job.granted};
    JobEnd end{row->cause, job.exit_code, job.state + reason, job.used};
    if (const auto cause = end_of_queued(job); cause && row->view == JobState::queued) {
        end.cause = *cause;
        end.exit_code.reset();
        view.end = std::move(end);
        return view;
    }
    const bool was_requeued = is_claimed && job.restarts > 0;
    if (was_requeued && row->view == JobState::queued)
        view.end = JobEnd{EndCause::requeued, {}, detail, job.used};
    if (row->view != JobState::vanished) return view;
    if (row->cause == EndCause::failed) end.cause = cause_of_failure(job);
    if (was_requeued && job.state == "COMPLETED") end.cause = EndCause::requeued;
    view.end = std::move(end);
    return view;
}

bool names_request(std::string_view standard_error) {
    bool own = false;
    bool of_one_job = false;  // a line names the limit: one of a single job, or one of all jobs of a user
    std::optional<bool> answered;  // what slurmctld answers outweighs what sbatch says
    for (auto line : base::split_lines(standard_error)) {
        line = base::trim(line);
        strip_one(line, programs);
        if (!strip_one(line, answers)) {
            own = own || begins_with_one(line, own_refusals);
            of_one_job = of_one_job || is_hopeless(line.substr(0, line.find_first_of(" ,:")));
            continue;
        }
        answered = (of_one_job && line.starts_with(by_policy)) || begins_with_one(line, refusals);
    }
    return answered.value_or(own);
}

base::Error judge_refusal(std::string_view standard_error) {
    const std::string message(base::cut_utf8(base::trim(standard_error), max_error_line_bytes));
    const auto contains = [&](std::string_view part) {
        return standard_error.find(part) != std::string_view::npos;
    };
    if (std::any_of(unsure.begin(), unsure.end(), contains))
        return builder::job_may_exist("Slurm did not confirm that it accepted the job", message);
    if (names_request(standard_error))
        return builder::request_refused("Slurm rejects the job", message, "[scheduler] in site.toml");
    return builder::no_job_created("Slurm accepts no jobs at the moment", message);
}

std::string parse_submitted(std::string_view standard_output) {
    constexpr std::string_view plainly = "Submitted batch job ";
    std::string number;
    for (auto line : base::split_lines(standard_output)) {
        line = base::trim(line);
        const bool is_plain = line.starts_with(plainly);
        if (is_plain) line = line.substr(plainly.size());
        const std::string_view first = line.substr(0, line.find_first_of(is_plain ? " ;" : ";"));
        if (base::parse_decimal(first)) number = first;
    }
    return number;
}

std::string render_header(const JobRequest& job, const QueueSettings& of_builds) {
    const QueueSettings& settings = job.queue != nullptr ? *job.queue : of_builds;
    std::string text;
    const auto add = [&text](const std::string& option) { text += "#SBATCH " + option + "\n"; };
    add("--job-name=" + job.attempt);
    // Slurm's own messages (an exceeded limit, a signal); the build's output goes to `log`, see below.
    add("--output=" + job.folder.scheduler_log().string());
    add("--open-mode=append");
    add("--chdir=" + job.folder.root.string());
    add("--no-requeue");
    if (settings.may_ask(JobPart::nodes)) add("--nodes=" + std::to_string(job.nodes));
    add("--ntasks=" + std::to_string(job.nodes * job.ranks_per_node));
    if (job.nodes > 1) add("--ntasks-per-node=" + std::to_string(job.ranks_per_node));
    if (settings.may_ask(JobPart::cores)) add("--cpus-per-task=" + std::to_string(job.cores));
    if (job.memory_mib > 0 && settings.may_ask(JobPart::memory))
        add("--mem=" + std::to_string(job.memory_mib) + "M");
    if (job.max_walltime_minutes > 0) {
        add("--time=" + std::to_string(job.max_walltime_minutes));
    }
    add("--signal=B:USR1@" + std::to_string(warning_before_end_s(job.max_walltime_minutes)));
    if (!settings.queue.empty()) add("--partition=" + settings.queue);
    if (!settings.account.empty()) add("--account=" + settings.account);
    if (settings.gpus > 0 && settings.may_ask(JobPart::gpus))
        add("--gres=gpu:" + std::to_string(settings.gpus));
    if (!job.label.empty()) add("--comment=" + job.label);  // `squeue -o %k`
    for (const auto& option : settings.all_options())
        add(option);
    return text;
}

}  // namespace wheelyard::builder::slurm
