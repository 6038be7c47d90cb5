// Journal and plan in the words of the report. Everything that may hold a secret passes hide_secrets().
#include "builder/workplace/status_report.hpp"

#include <algorithm>
#include <set>

#include "builder/remote/secrets.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// Describes the host of the first Python that answered; leaves it unknown if none did.
void describe_host(status::SiteReport& report, const Pythons& pythons) {
    const auto answered = std::find_if(pythons.begin(), pythons.end(),
                                       [](const auto& python) { return python.second.has_value(); });
    if (answered == pythons.end()) return;
    const wheel::Environment& host = answered->second->environment;
    report.machine = host.machine;
    if (host.glibc_major > 0)
        report.glibc = std::to_string(host.glibc_major) + "." + std::to_string(host.glibc_minor);
}

status::NodeReport node_of(const Site& site, const NodeType& node, const status::SiteReport& report) {
    const Accelerator* accelerator = site.accelerator(node.accelerator);
    return {.name = node.name,
            .cores = node.cores,
            .memory_mib = node.memory_mib,
            .gpus = node.gpus,
            .accelerator = node.accelerator,
            .architectures = accelerator == nullptr ? std::vector<std::string>() : accelerator->architectures,
            .machine = node.machine.empty() ? report.machine : node.machine,
            .glibc = node.glibc.empty() && node.machine.empty() ? report.glibc : node.glibc};
}

// Options, too, may name the account that the builds are charged to, or the address of who runs them.
void hide_account(std::vector<std::string>& options) {
    std::erase_if(options, [](const std::string& option) { return option.find('@') != std::string::npos; });
    for (std::string& option : options) {
        for (const char* begin : {"--account=", "--account ", "-A", "-P"}) {
            if (!option.starts_with(begin)) continue;
            option = begin;
            if (option.size() == 2) option += ' ';
            option += "ACCOUNT";
        }
    }
}

// How a user's job on such a node begins. What users have to put in themselves stands there in capitals.
std::vector<std::string> job_lines(const Site& site, const NodeType& node) {
    constexpr std::int64_t minutes = 30;
    UserJob job{.name = "wheel",
                .cores_per_node = node.cores,
                .gpus_per_node = node.gpus,
                .max_walltime_minutes = minutes,
                .queue = site.queue};
    send_from_builds_to(job.queue, node);
    if (site.users && node_of_users(site, *site.users) == &node) {
        job.ranks_per_node = site.users->ranks_per_node;
        job.cores_per_rank = site.users->cores_per_rank;
        job.memory_mib = site.users->memory_mib;
    }
    if (!job.queue.account.empty()) job.queue.account = "ACCOUNT";
    auto& options = job.queue.options;
    if (site.users) options.insert(options.end(), site.users->options.begin(), site.users->options.end());
    hide_account(options);
    hide_account(job.queue.node_options);
    const BatchSystem& batch = *site.scheduler->batch;
    const auto named = job.queue.all_options();
    const bool names_gpus = std::any_of(named.begin(), named.end(), [](const std::string& option) {
        return option.find("gpu") != std::string::npos || option.find("gres") != std::string::npos;
    });
    if (node.gpus > 0 && !batch.gpus_option.empty() && !names_gpus)
        options.push_back(std::string(batch.gpus_option) + std::to_string(node.gpus));
    std::vector<std::string> lines;
    const std::string header = batch.render_user_header(job);
    for (const std::string_view line : base::split_lines(header))
        if (!line.empty()) lines.emplace_back(line);
    return lines;
}

// The site's advice to users as comments, then what loads its modules.
std::vector<std::string> setup_lines(const Site& site, const PythonChoice& python,
                                     const std::string& accelerator) {
    std::vector<std::string> lines;
    for (const auto& advice : site.users ? site.users->advice : std::vector<std::string>()) {
        for (const auto line : base::split_lines(advice))
            lines.push_back("# " + std::string(line));
    }
    const auto loads = lines_of_user_setup(site, python, site.accelerator(accelerator));
    lines.insert(lines.end(), loads.begin(), loads.end());
    return lines;
}

// Where users' jobs go through a batch system.
void describe_jobs(status::SiteReport& report, const Site& site) {
    if (!site.scheduler->batch) return;
    report.submit = site.scheduler->batch->submit;
    std::set<std::string> accelerators;
    for (std::size_t at = 0; at < site.nodes.size(); ++at) {
        report.nodes[at].job = job_lines(site, site.nodes[at]);
        if (!accelerators.insert(site.nodes[at].accelerator).second) continue;
        for (const PythonChoice& python : site.pythons)
            report.setups.push_back({.python = python.version,
                                     .accelerator = site.nodes[at].accelerator,
                                     .program = python.executable,
                                     .lines = setup_lines(site, python, site.nodes[at].accelerator)});
    }
}

status::CellReport cell_of(const Cell& cell) {
    return {.package = cell.package,
            .version = cell.version,
            .python = cell.python,
            .accelerator = cell.accelerator,
            .purpose = cell.purpose == Purpose::build ? "" : std::string(purpose_text(cell.purpose)),
            .state = std::string(cell_state_text(cell.state)),
            .reason = cell.reason,
            .attempt = cell.attempt};
}

// A phase ends where the next one begins, the last one at `end`. The mark of the end is none.
template <typename Report, typename Phases>
void add_phases(Report& report, const Phases& phases, base::UnixMicros end) {
    const std::size_t excess = phases.size() - std::min(phases.size(), status::max_phases);
    for (std::size_t at = excess; at < phases.size(); ++at) {
        if (phases[at].name == "done") continue;
        const base::UnixMicros until = at + 1 == phases.size() ? end : phases[at + 1].began;
        report.phases.push_back(phases[at].name);
        report.phase_seconds.push_back(std::max<std::int64_t>(0, (until - phases[at].began) / 1'000'000));
    }
}

// For people: an address, or the name of the file. A folder of the agent is no place for them.
std::string source_of(const Attempt& attempt) {
    const bool is_address = attempt.source.origin.find("://") != std::string::npos;
    return is_address ? attempt.source.origin : attempt.source.filename;
}

status::BuildReport build_of(const Attempt& attempt) {
    return {.id = attempt.id,
            .package = attempt.asked.package,
            .version = attempt.asked.version,
            .python = attempt.asked.python,
            .accelerator = attempt.asked.accelerator,
            .began = attempt.created,
            .source = source_of(attempt),
            .source_sha256 = attempt.source.sha256};
}

status::BuildReport attempt_of(const AttemptView& view, const AttemptLog& log, base::UnixMicros now) {
    status::BuildReport report = build_of(view.attempt);
    report.state = state_text(view.attempt.state);
    report.phase = view.progress.phase;
    report.waiting = waiting_suffix(view.attempt.waiting);
    if (report.waiting.starts_with(", ")) report.waiting.erase(0, 2);
    report.done = view.progress.done;
    report.total = view.progress.total;
    report.memory_limit_mib = view.attempt.job.memory_mib;
    report.memory_mib = log.course.memory_mib;
    report.log_tail = log.last_lines;
    add_phases(report, log.course.phases, now);
    return report;
}

status::BuildReport failure_of(const Attempt& attempt, const AttemptLog& log) {
    const Failure& failure = *attempt.failure;
    status::BuildReport report = build_of(attempt);
    report.ended = attempt.changed;
    report.phase = failure.phase;
    report.rule = failure.cause;
    report.cause = failure.error.sentence;
    if (!failure.first_error.empty()) report.cause += " [" + failure.first_error + "]";
    report.remedy = failure.error.advice;
    report.log_tail = log.last_lines;
    add_phases(report, attempt.job.phases, attempt.job.ended);
    return report;
}

status::BuildReport finished_of(const Attempt& attempt) {
    status::BuildReport report = build_of(attempt);
    if (attempt.asked.purpose != Purpose::build) report.purpose = purpose_text(attempt.asked.purpose);
    report.ended = attempt.changed;
    add_phases(report, attempt.job.phases, attempt.job.ended);
    return report;
}

// The index may be public: it does not say where the site file is, nor in whose home. The command finds the
// last one by itself.
std::string without_path(const std::string& text, const Site& site) {
    if (site.file.empty()) return text;
    return base::replace_all(text, " --site " + base::quote_shell(site.file.string()), "");
}

void hide_secrets_in(status::SiteReport& report, const std::vector<std::string>& secrets, const Site& site) {
    const auto hide = [&](std::string& text) { text = hide_secrets(without_path(text, site), secrets); };
    for (auto& node : report.nodes)
        std::for_each(node.job.begin(), node.job.end(), hide);
    for (auto& setup : report.setups)
        std::for_each(setup.lines.begin(), setup.lines.end(), hide);
    for (auto& cell : report.cells)
        hide(cell.reason);
    for (auto& attempt : report.attempts) {
        hide(attempt.waiting);
        hide(attempt.source);
        std::for_each(attempt.phases.begin(), attempt.phases.end(), hide);
        std::for_each(attempt.log_tail.begin(), attempt.log_tail.end(), hide);
    }
    for (auto& held : report.held_queues)
        hide(held.reason);
    for (auto& failure : report.failures) {
        hide(failure.cause);
        hide(failure.remedy);
        hide(failure.source);
        std::for_each(failure.phases.begin(), failure.phases.end(), hide);
        std::for_each(failure.log_tail.begin(), failure.log_tail.end(), hide);
    }
}

}  // namespace

bool is_reported_failure(const Attempt& attempt) {
    return is_over(attempt.state) && attempt.failure && !attempt.superseded;
}

std::vector<std::string> last_log_lines(std::string_view log, std::size_t max_lines) {
    std::vector<std::string> lines;
    for (std::string_view line : base::split_lines(log)) {
        while (line.ends_with('\r'))
            line.remove_suffix(1);
        line = line.substr(line.rfind('\r') + 1);
        if (!base::trim(line).empty()) lines.emplace_back(line);
    }
    const std::size_t excess = lines.size() - std::min(lines.size(), max_lines);
    lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(excess));
    return lines;
}

status::SiteReport make_status_report(const ReportInput& input,
                                      const std::map<std::string, AttemptLog>& logs) {
    status::SiteReport report;
    report.site = input.site.name;
    report.index = input.site.registry->index;
    report.program = "wheelyard-builder " WHEELYARD_VERSION;
    report.time = input.now;
    report.next_tick = input.next_tick;
    report.claims = input.site.registry->claim_tasks;
    if (report.claims == "recipes") report.recipes = input.recipes.packages();
    if (report.claims == "recipes" && report.recipes.empty()) report.claims = "no";  // it takes none
    for (const PythonChoice& python : input.site.pythons)
        report.pythons.push_back(python.version);
    describe_host(report, input.pythons);
    for (const NodeType& node : input.site.nodes)
        report.nodes.push_back(node_of(input.site, node, report));
    describe_jobs(report, input.site);
    for (const Cell& cell : input.plan.cells)
        report.cells.push_back(cell_of(cell));
    for (const AttemptView& view : input.attempts) {
        const Attempt& attempt = view.attempt;
        const auto found = logs.find(attempt.id);
        const AttemptLog log = found == logs.end() ? AttemptLog() : found->second;
        if (!is_over(attempt.state))
            report.attempts.push_back(attempt_of(view, log, input.now));
        else if (is_reported_failure(attempt))
            report.failures.push_back(failure_of(attempt, log));
        else if (attempt.state == State::done)
            report.finished.push_back(finished_of(attempt));
    }
    for (const HeldQueue& held : input.plan.held_queues)
        report.held_queues.push_back({held.queue, held.reason, held.since});
    std::stable_sort(report.failures.begin(), report.failures.end(),
                     [](const auto& a, const auto& b) { return a.ended > b.ended; });
    std::stable_sort(report.finished.begin(), report.finished.end(),
                     [](const auto& a, const auto& b) { return a.ended > b.ended; });
    hide_secrets_in(report, input.secrets, input.site);
    return status::fit_site_report(std::move(report));
}

}  // namespace wheelyard::builder
