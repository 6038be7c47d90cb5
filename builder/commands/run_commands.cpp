// The subcommands that tick: run, tick; and plan, which shows what they would do.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>

#include "builder/commands/commands.hpp"
#include "builder/commands/tick_until.hpp"
#include "builder/site/script_setup.hpp"
#include "builder/workplace/notices.hpp"
#include "builder/workplace/status_sender.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t ms_per_s = 1000;

bool has_all(const Plan& plan) {
    return plan.count(CellState::have) + plan.count(CellState::excluded) == plan.cells.size();
}

// The command that begins what has failed again, once its cause is gone: a repaired site has nothing else
// that says so.
std::string retry_line(const Plan& plan, const Site& site) {
    std::vector<std::string> failed;
    for (const Cell& cell : plan.cells)
        if (cell.has_failed) failed.push_back(cell.name);
    if (failed.empty() || !plan.start_nothing.empty()) return "";
    const bool is_one = failed.size() == 1;
    return "Once the cause is fixed: " +
           pasted_command(is_one ? "retry" : "retry --all", is_one ? failed.front() : "", site) + "\n";
}

// Prints text on one of the two streams.
using Say = std::function<void(std::FILE*, const std::string&)>;

std::string complaint(const base::Error& error) {
    return "wheelyard-builder: " + error.text() + "\n";
}

int tick_once(const TickOptions& options, const Say& say);

// Ticks like cron: prints the errors of a failed tick, and tries again at the next one. Only a signal ends
// it.
int tick_for_ever(const TickOptions& options) {
    base::print_message(stderr, "Running a tick every " +
                                    base::render_duration_ms(options.interval_s * ms_per_s) +
                                    ". It is safe to stop at any time: jobs continue.\n");
    base::SystemClock clock;
    TickLines lines;
    const Say say = [&](std::FILE* out, const std::string& text) {
        base::print(out, lines.fresh(text, clock.now()));
        std::fflush(out);
    };
    while (true) {
        lines.begin();
        static_cast<void>(tick_once(options, say));
        clock.sleep_ms(options.interval_s * ms_per_s);
    }
}

// With `stay`, ticks until no login-node step is running: in a batch job, the end of the job would kill these
// steps. Each step has its own time limit.
base::Result<TickReport> tick_and_stay(Workplace& place, StatusSender& sender, bool stay, const Say& say) {
    bool is_at_work = false;
    const base::UnixMicros began = place.clock().now();
    while (true) {
        if (const auto refused = place.renew_token()) say(stderr, complaint(*refused));
        auto report = place.agent().tick();
        if (report) {
            sender.after_tick(report->plan, report->moved);
            if (const auto notified = notify_after_tick(place, *report); !notified)
                say(stderr, complaint(notified.error()));
            is_at_work = awaits_closure(report->plan) ||
                         std::any_of(report->active.begin(), report->active.end(), awaits_login_node);
        } else if (report.error().kind != base::ErrorKind::busy) {  // busy: another tick ends before our step
            return report;
        }
        if (!stay || !is_at_work) return report;
        const bool asks = place.site().scheduler->batch &&
                          (!report || std::any_of(report->active.begin(), report->active.end(),
                                                  [](const Attempt& a) { return may_have_job(a.state); }));
        place.clock().sleep_ms(next_tick_ms((place.clock().now() - began) / 1000, asks));
    }
}

}  // namespace

int run_plan(const PlanOptions& options) {
    if (!options.script.empty()) return run_plan_script(options);
    const auto place = Workplace::open(options.site);
    if (!place) return complain(place.error(), exit_usage);
    auto plan = (*place)->agent().look();
    if (!plan) return complain(plan.error(), exit_failed);
    if (options.explain) {
        const auto judged = (*place)->explain_torch_abi(*plan);
        if (!judged) complain(judged.error(), exit_failed);
    }
    if (options.json) {
        print(render_plan_json(*plan));
        return exit_well;
    }
    print(render_plan(*plan, options.explain, base::terminal_columns(STDOUT_FILENO)));
    tell(render_as_of((*place)->clock().now(), (*place)->last_tick()));
    if (options.explain)
        tell("\nSources are downloaded according to pip's configuration:\n" +
             render_pip_config((*place)->pip()));
    const auto& registry = (*place)->site().registry;
    if (options.explain && registry && registry->claim_tasks != "no") {
        const auto& reason = (*place)->agent().no_uploaded_sources();
        tell("\nTasks with uploaded sources are " +
             (reason ? "not claimed: " + reason->text() : std::string("claimed, and built in a namespace")) +
             "\n");
    }
    return exit_well;
}

int run_run(const TickOptions& options) {
    if (options.interval_s > 0) return tick_for_ever(options);
    Screen screen(stderr, ::isatty(STDERR_FILENO) != 0);
    const auto note = [&screen](const Attempt& attempt, const std::string& text) {
        screen.line(event_line(attempt, text));
    };
    const auto place = Workplace::open(options.site, note, {options.unchecked, nullptr});
    if (!place) return complain(place.error(), exit_usage);
    const auto plan = tick_until(**place, screen, is_settled);
    if (!plan) return complain(plan.error(), exit_failed);
    for (const Cell& cell : plan->cells) {
        if (cell.awaits_others) screen.line("Not waiting for " + cell.name + ": " + cell.reason);
    }
    print(options.json ? render_plan_json(*plan)
                       : render_plan(*plan, false, base::terminal_columns(STDOUT_FILENO)));
    if (!options.json) base::print_message(stdout, retry_line(*plan, (*place)->site()));
    return has_all(*plan) ? exit_well : exit_failed;
}

int run_notify(const SiteOptions& options) {
    const auto site = read_site(options.site);
    if (!site) return complain(site.error(), exit_usage);
    const base::SystemClock clock;
    const auto done = notify::try_command(notify_settings(*site), clock);
    if (!done) return complain(done.error(), exit_failed);
    tell(done->out + done->err + (done->timed_out ? "The command took too long.\n" : "") +
         "The command ended with status " + std::to_string(done->exit_code) + ".\n");
    return done->exit_code == 0 ? exit_well : exit_failed;
}

namespace {

int tick_once(const TickOptions& options, const Say& say) {
    std::FILE* const out = options.json ? stderr : stdout;  // with --json, stdout is a single document
    bool is_idle = true;
    const auto note = [&](const Attempt& attempt, const std::string& text) {
        is_idle = false;
        say(out, event_line(attempt, text) + "\n");
    };
    const auto fail = [&say](const base::Error& error, int status) {
        say(stderr, complaint(error));
        return status;
    };
    const auto place = Workplace::open(
        options.site, note, {options.unchecked, [&say](const std::string& text) { say(stderr, text); }});
    if (!place) return fail(place.error(), exit_usage);
    StatusSender sender(
        **place, [&say](const std::string& text) { say(stderr, text + "\n"); }, options.interval_s);
    const auto report = tick_and_stay(**place, sender, options.stay, say);
    if (!report && report.error().kind == base::ErrorKind::busy) {
        say(out, report.error().text() + "\n");
        return exit_well;
    }
    if (!report) return fail(report.error(), exit_failed);
    for (const auto& problem : report->journal_problems)
        static_cast<void>(fail(problem, exit_failed));
    if (options.json) print(render_plan_json(report->plan));
    // Not to cron, which would send it as a mail every few minutes.
    else if (is_idle && ::isatty(STDOUT_FILENO) != 0)
        say(stdout, render_idle_tick(report->plan));
    return report->journal_problems.empty() ? exit_well : exit_failed;
}

}  // namespace

// In a file, such as cron's log, each line has the time: nothing else says which tick printed it.
int run_tick(const TickOptions& options) {
    const base::SystemClock clock;
    TickLines lines;
    return tick_once(options, [&](std::FILE* out, const std::string& text) {
        base::print_message(out, ::isatty(::fileno(out)) != 0 ? text : lines.fresh(text, clock.now()));
    });
}

}  // namespace wheelyard::builder
