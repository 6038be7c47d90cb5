// PBS's states, exit statuses and refusals, each as a table.
#include "builder/schedule/pbs/pbs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "builder/attempt/limits.hpp"
#include "builder/schedule/batch_command.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/utf8.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder::pbs {
namespace {

struct StateRow {
    char state;
    JobState view;
    std::string_view word;
    bool suspended = false;
};
constexpr std::array<StateRow, 12> states = {{
    {'Q', JobState::queued, "queued"},
    {'H', JobState::queued, "held"},
    {'W', JobState::queued, "waiting"},
    {'T', JobState::queued, "in transit"},
    {'M', JobState::queued, "moved"},
    {'R', JobState::running, "running"},
    {'E', JobState::running, "exiting"},
    {'S', JobState::running, "suspended", true},
    {'U', JobState::running, "suspended while its node is in use", true},
    {'B', JobState::running, "begun"},
    {'F', JobState::vanished, "finished"},
    {'X', JobState::vanished, "finished"},
}};

// How a job ended. The first row that matches decides; a field that a row leaves out matches everything. The
// rows are from a real OpenPBS 23.06 (tests/builder/schedule/data/pbs/) and from pbs_job.h (JOB_EXEC_*).
struct EndingRow {
    std::optional<std::int64_t> exit_status;
    std::optional<std::int64_t> substate;
    std::string_view comment;  // a part of it
    EndCause cause;
};
constexpr std::optional<std::int64_t> any = std::nullopt;
constexpr std::int64_t deleted = 91;  // the substate of a job that the server ended on request
constexpr std::array<EndingRow, 22> endings = {{
    {any, deleted, "terminated by Scheduler@", EndCause::preempted},  // preempt_order "D"
    {any, deleted, "", EndCause::cancelled},                          // qdel: "terminated by USER@HOST"
    {-1, any, "", EndCause::not_launched},
    {-2, any, "", EndCause::not_launched},
    {-3, any, "", EndCause::not_launched},
    {-4, any, "", EndCause::node_failure},  // aborted when its machine restarted
    {-5, any, "", EndCause::node_failure},
    {-6, any, "", EndCause::node_failure},
    {-11, any, "", EndCause::requeued},
    {-12, any, "", EndCause::requeued},       // checkpointed
    {-15, any, "", EndCause::requeued},       // of a checkpoint
    {-18, any, "", EndCause::requeued},       // by a hook
    {-19, any, "", EndCause::killed},         // by a hook
    {-20, any, "", EndCause::node_failure},   // "Job deleted, execution node down"
    {-24, any, "", EndCause::failed},         // it used more cores than it asked for, in a burst
    {-25, any, "", EndCause::failed},         // the same on average
    {-26, any, "", EndCause::out_of_memory},  // vmem
    {-27, any, "", EndCause::out_of_memory},  // mem
    {-28, any, "", EndCause::time_limit},     // CPU time; OpenPBS 23.06 reports 137, see cause_of
    {-29, any, "", EndCause::time_limit},     // walltime
    {-31, any, "", EndCause::out_of_memory},  // hpmem
    {-32, any, "", EndCause::requeued},
}};

// How the comment of a queued job begins that will not start. PBS itself holds one whose starts failed.
constexpr std::array<std::pair<std::string_view, EndCause>, 2> queued_ends = {{
    {"Can Never Run", EndCause::cannot_ever_run},
    {"job held, too many failed attempts to run", EndCause::not_launched},
}};

constexpr std::string_view qsub_says = "qsub: ";
// Both ask for the resource ngpus, which not every PBS has.
constexpr std::string_view gpu_keys =
    "`gpus` of [scheduler] in site.toml, or `gpus_per_node` of the recipe's test: with 0, `options` can ask "
    "for GPUs as this site does";
constexpr int qstat_unknown_job = 153;
constexpr int qstat_history = 35;  // the job has finished; qstat needs -x

// How a message of qsub begins, after "qsub: ", that is about the job's own request: texts of pbs_err_to_txt
// (OpenPBS, src/lib/Liblog/pbs_messages.c) and of qsub itself (src/cmds/qsub.c). Every other refusal may
// pass: a hook's text, "Bad UID for job execution", "No free connections", "Queue is not enabled", a limit of
// all jobs of a user.
constexpr std::array<std::string_view, 24> refusals = {
    "Unknown queue",                                     // PBSE_UNKQUE
    "Queue name too long",                               // PBSE_QUENBIG
    "Unknown resource",                                  // PBSE_UNKRESC
    "Undefined attribute",                               // PBSE_NOATTR
    "Illegal attribute or resource value",               // PBSE_BADATVAL
    "attribute value is out of range",                   // PBSE_ATVALERANGE
    "Cannot set attribute, read only",                   // PBSE_ATTRRO
    "Mutually exclusive values for",                     // PBSE_MUTUALEX
    "Job violates queue and/or server resource limits",  // PBSE_EXCQRESC
    "Resource limit exceeds allowable",                  // PBSE_EXLIMIT
    "Resource invalid in \"select\" specification",      // PBSE_INVALSELECTRESC
    "\"-lresource=\" cannot be used with",               // PBSE_INVALJOBRESC
    "Cannot be used with select or place",               // PBSE_INVALNODEPLACE
    "Cannot have \"place\" without \"select\"",          // PBSE_PLACENOSELECT
    "duplicated resource within a section",              // PBSE_DUPRESC
    "node(s) specification error",                       // PBSE_BADNODESPEC
    "Cannot have \"max_walltime\" without",              // PBSE_MAX_NO_MINWT
    "\"min_walltime\" can not be greater",               // PBSE_MIN_GT_MAXWT
    "Invalid provisioning request in chunk",             // PBSE_IVAL_AOECHUNK
    "Invalid Job Dependency",                            // PBSE_BADDEPEND
    "cannot submit non-rerunable Array Job",             // seen; of qsub
    "illegal -",                                         // of qsub: an option's value
    "invalid option",                                    // getopt(3)
    "script file:",                                      // of qsub: the job's script
};
// The answer was lost; the job may exist.
constexpr std::array<std::string_view, 4> unsure = {"timeout", "Protocol (ASN.1) error",
                                                    "Batch protocol error", "End of File"};

// A number, or a string that contains one: PBS prints both.
std::optional<std::int64_t> number_of(const io::Json* json) {
    if (json == nullptr) return std::nullopt;
    if (json->as_int() != nullptr) return *json->as_int();
    if (json->as_string() == nullptr) return std::nullopt;
    const std::string& text = *json->as_string();
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// A string; PBS prints a name that looks like a number as a number.
std::string text_of(const io::Json& job, std::string_view name) {
    const io::Json* member = job.find(name);
    if (member == nullptr) return "";
    return member->as_string() != nullptr ? *member->as_string() : member->render();
}

Job read_job(const std::string& id, const io::Json& json) {
    Job job;
    job.id = id;
    job.name = text_of(json, "Job_Name");
    job.owner = text_of(json, "Job_Owner");  // "anna@login1"
    job.owner.resize(std::min(job.owner.size(), job.owner.rfind('@')));
    const std::string state = text_of(json, "job_state");
    job.state = state.size() == 1 ? state[0] : '?';
    job.substate = number_of(json.find("substate")).value_or(0);
    job.exit_status = number_of(json.find("Exit_status"));
    job.comment = text_of(json, "comment");
    job.runs = number_of(json.find("run_count")).value_or(0);
    if (const io::Json* list = json.find("Resource_List")) {
        job.max_cpu_s = parse_elapsed_s(text_of(*list, "cput"));
        job.granted = {parse_elapsed_s(text_of(*list, "walltime")) / s_per_minute,
                       parse_size_kib(text_of(*list, "mem")) / kib_per_mib};
    }
    if (const io::Json* used = json.find("resources_used")) {
        job.used = {parse_elapsed_s(text_of(*used, "walltime")), parse_elapsed_s(text_of(*used, "cput")),
                    parse_size_kib(text_of(*used, "mem"))};
    }
    return job;
}

// "qstat: Unknown Job Id 99999.pbshost" → the id; "" for any other line.
std::string unknown_id(std::string_view line) {
    constexpr std::string_view prefix = "qstat: Unknown Job Id ";
    return line.starts_with(prefix) ? std::string(base::trim(line.substr(prefix.size()))) : "";
}

tl::unexpected<base::Error> not_understood(std::string sentence, std::string value) {
    return base::fail_as(base::ErrorKind::malformed, base::Recovery::never,
                         {"scheduler.answer", std::move(sentence), std::move(value)});
}

bool matches(const EndingRow& row, const Job& job) {
    return (!row.exit_status || row.exit_status == job.exit_status) &&
           (!row.substate || *row.substate == job.substate) &&
           job.comment.find(row.comment) != std::string::npos;
}

bool lists_variables(const std::string& option) {
    return option.starts_with("-v ") || option.starts_with("-v\t");
}

EndCause cause_of(const Job& job, bool is_claimed) {
    const auto* row =
        std::find_if(endings.begin(), endings.end(), [&](const EndingRow& one) { return matches(one, job); });
    if (row != endings.end()) return row->cause;
    // Removed by the server before it started: a dependency that cannot be met, for example.
    if (!job.exit_status) return job.runs == 0 && !is_claimed ? EndCause::dropped : EndCause::unexplained;
    if (*job.exit_status < 0) return EndCause::not_launched;
    if (*job.exit_status == 0) return job.runs > 1 ? EndCause::requeued : EndCause::unexplained;
    if (*job.exit_status <= 128) return EndCause::failed;
    const bool used_its_cpu_time = job.max_cpu_s > 0 && job.used.cpu_seconds >= job.max_cpu_s;
    return used_its_cpu_time ? EndCause::time_limit : EndCause::killed;
}

}  // namespace

std::string walltime(std::int64_t minutes) {
    std::string rest = std::to_string(minutes % 60);
    rest.insert(0, rest.size() < 2 ? "0" : "");
    return std::to_string(minutes / 60) + ":" + rest + ":00";
}

base::Result<Answer> read_qstat(const base::Finished& finished) {
    const auto unavailable = [](const std::string& why) {
        return base::fail(builder::cannot_query("PBS is not available", why));
    };
    if (finished.timed_out) return unavailable("qstat did not answer in time");
    Answer answer;
    for (const auto line : base::split_lines(finished.err)) {
        const std::string id = unknown_id(line);
        if (!id.empty()) {
            answer.unknown.insert(id);
        } else if (!base::trim(line).empty() && line.find("Job has finished") == std::string_view::npos) {
            return unavailable(std::string(base::cut_utf8(line, max_error_line_bytes)));
        }
    }
    const int code = finished.exit_code;
    if (code != 0 && code != qstat_unknown_job && code != qstat_history)
        return unavailable("qstat failed with exit status " + std::to_string(code));
    const auto json = io::parse_json(finished.out);
    if (!json) {
        return not_understood("The output of qstat is not valid JSON: " + json.error().sentence,
                              json.error().value);
    }
    const io::Json* jobs = json->find("Jobs");
    if (jobs == nullptr || jobs->as_object() == nullptr) return answer;  // no jobs
    for (const auto& [id, job] : *jobs->as_object())
        answer.jobs.push_back(read_job(id, job));
    return answer;
}

bool lacks_history(const base::Finished& finished) {
    return finished.err.find("not configured to maintain job history") != std::string::npos;
}

base::Result<std::vector<std::string>> read_qselect(const base::Finished& finished) {
    if (finished.exit_code != 0 || finished.timed_out)
        return base::fail(builder::cannot_query("PBS is not available", first_words(finished)));
    std::vector<std::string> ids;
    for (const auto line : base::split_lines(finished.out)) {
        const auto id = base::trim(line);
        if (id.empty()) continue;
        if (!base::is_ascii_digit(id.front()))
            return not_understood("The output of qselect is not a list of jobs",
                                  std::string(base::cut_utf8(id, max_error_line_bytes)));
        ids.emplace_back(id);
    }
    return ids;
}

JobView view_of(const Job& job, bool is_claimed) {
    const auto* row = std::find_if(states.begin(), states.end(),
                                   [&](const StateRow& one) { return one.state == job.state; });
    std::string detail = "PBS job " + job.id + ", ";
    detail += row == states.end() ? "in an unknown state" : row->word;
    if (!job.comment.empty()) detail += ": " + job.comment;
    if (row == states.end()) return {JobState::unknown, detail, {}};
    JobView view{row->view, detail, {}, row->suspended, job.granted};
    for (const auto& [words, cause] : queued_ends) {
        if (row->view == JobState::queued && job.comment.starts_with(words))
            view.end = JobEnd{cause, {}, job.comment, {}};
    }
    if (row->view == JobState::queued && is_claimed && job.runs > 0)
        view.end = JobEnd{EndCause::requeued, {}, detail, job.used};
    if (row->view != JobState::vanished) return view;
    JobEnd end{cause_of(job, is_claimed), {}, "", job.used};
    if (job.exit_status && *job.exit_status >= 0 && *job.exit_status < 512) {
        // 256 + signal in some versions, 128 + signal where a shell reports it.
        end.exit_code = static_cast<int>(*job.exit_status >= 256 ? *job.exit_status - 128 : *job.exit_status);
    }
    end.scheduler_status =
        "Exit_status " + (job.exit_status ? std::to_string(*job.exit_status) : std::string("none")) +
        ", substate " + std::to_string(job.substate) + (job.comment.empty() ? "" : ": " + job.comment);
    view.end = std::move(end);
    return view;
}

base::Error judge_refusal(const base::Finished& finished) {
    const std::string message(base::cut_utf8(base::trim(finished.err), max_error_line_bytes));
    const auto begins = [&message](std::string_view text) {
        const auto lines = base::split_lines(message);
        return std::any_of(lines.begin(), lines.end(), [text](std::string_view line) {
            return line.starts_with(qsub_says) && line.substr(qsub_says.size()).starts_with(text);
        });
    };
    if (finished.timed_out || std::any_of(unsure.begin(), unsure.end(), begins))
        return builder::job_may_exist("PBS did not confirm that it accepted the job", message);
    if (std::any_of(refusals.begin(), refusals.end(), begins)) {
        const bool is_gpu = message.find("ngpus") != std::string::npos;
        return builder::request_refused("PBS rejects the job", message,
                                        is_gpu ? std::string(gpu_keys) : "[scheduler] in site.toml");
    }
    return builder::no_job_created(
        "PBS accepts no jobs at the moment",
        message.empty() ? "qsub failed with exit status " + std::to_string(finished.exit_code) : message);
}

std::string more_of_chunk(const QueueSettings& settings) {
    std::string text;
    for (const std::string& resource : settings.chunk)
        text += ":" + resource;
    return text;
}

std::string render_header(const JobRequest& job, const QueueSettings& of_builds) {
    const QueueSettings& settings = job.queue != nullptr ? *job.queue : of_builds;
    const std::vector<std::string> options = settings.all_options();
    std::string text;
    const auto add = [&text](const std::string& option) { text += "#PBS " + option + "\n"; };
    add("-N " + job.attempt);
    add("-j oe");
    add("-o " + job.folder.scheduler_log().string());
    add("-r n");  // a rerun would find the attempt already claimed
    // A chunk is the part of the job on one node: "select=2:ncpus=64:mpiprocs=4:ngpus=4".
    std::string select = "-l select=" + std::to_string(job.nodes);
    const auto ask = [&](JobPart part, const std::string& chunk) {
        if (settings.may_ask(part)) select += chunk;
    };
    ask(JobPart::cores, ":ncpus=" + std::to_string(job.cores * job.ranks_per_node));
    if (job.nodes * job.ranks_per_node > 1) select += ":mpiprocs=" + std::to_string(job.ranks_per_node);
    if (settings.gpus > 0) ask(JobPart::gpus, ":ngpus=" + std::to_string(settings.gpus));
    if (job.memory_mib > 0) ask(JobPart::memory, ":mem=" + std::to_string(job.memory_mib) + "mb");
    add(select + more_of_chunk(settings));
    const bool placed = std::any_of(options.begin(), options.end(), [](const auto& option) {
        return option.find("place=") != std::string::npos;
    });
    if (job.nodes > 1 && !placed) add("-l place=scatter");  // otherwise PBS may put two chunks on one node
    if (job.max_walltime_minutes > 0) add("-l walltime=" + walltime(job.max_walltime_minutes));
    if (!settings.queue.empty()) add("-q " + settings.queue);
    if (!settings.account.empty()) add("-A " + settings.account);
    // qsub uses one list of variables, the last.
    const bool lists = std::any_of(options.begin(), options.end(), lists_variables);
    const std::string label = job.label.empty() ? "" : "WHEELYARD_JOB=" + job.label;
    if (!label.empty() && !lists) add("-v " + label);
    for (const auto& option : options)
        add(!label.empty() && lists_variables(option) ? option + "," + label : option);
    return text;
}

}  // namespace wheelyard::builder::pbs
