// The subcommands that change something, and `plan`.
#include "builder/commands.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <optional>

#include "builder/attempt/backoff.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/command_output.hpp"
#include "builder/cron_line.hpp"
#include "builder/limits.hpp"
#include "builder/plan/plan_history.hpp"
#include "builder/screen.hpp"
#include "builder/site_check.hpp"
#include "builder/site_init.hpp"
#include "builder/site_report.hpp"
#include "builder/status_sender.hpp"
#include "builder/users/user_files.hpp"
#include "builder/workplace.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/untrusted_file.hpp"
#include "lib/base/process/process.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::int64_t ms_per_s = 1000;

std::string event_line(const Attempt& attempt, const std::string& text) {
    return attempt.asked.cell + " " + attempt.id + ": " + base::printable(text);
}

// Whether a later tick can continue the cell without anybody's help.
bool is_waiting(const Cell& cell) {
    return cell.state == CellState::held && !cell.awaits_others;
}

// Whether nothing is left that this program can do, now or after its own jobs.
bool is_settled(const TickReport& report) {
    // Wheels whose upload waits for a person to replace the token do not count.
    const bool others = std::any_of(report.active.begin(), report.active.end(), [&](const Attempt& attempt) {
        return !report.uploads_paused || attempt.state != State::uploading;
    });
    if (others) return false;
    const bool paused = !report.active.empty();
    const auto& cells = report.plan.cells;
    return !report.plan.start_nothing.empty() ||
           (report.plan.count(CellState::wanted) == 0 &&
            (paused || std::none_of(cells.begin(), cells.end(), is_waiting)));
}

bool awaits_login_node(const Attempt& attempt) {
    return attempt.waiting.what == WaitFor::login_step;
}

// Whether the attempt's job is queued or the login node prepares it.
bool is_queued_or_preparing(const Attempt& attempt) {
    return attempt.waiting.what == WaitFor::queue || awaits_login_node(attempt);
}

bool has_all(const Plan& plan) {
    return plan.count(CellState::have) + plan.count(CellState::excluded) == plan.cells.size();
}

std::vector<std::string> places_of(const std::vector<Attempt>& active) {
    std::vector<std::string> places;
    for (const auto& attempt : active)
        places.push_back(attempt.id + std::string(state_text(attempt.state)));
    return places;
}

// Ticks until it is enough, or nothing has changed for run_patience_ms (if the registry is down, for example).
base::Result<Plan> tick_until(Workplace& place, Screen& screen,
                              const std::function<bool(const TickReport&)>& is_enough) {
    StatusSender sender(place, [&screen](const std::string& text) { screen.line(base::printable(text)); });
    base::UnixMicros moved = place.clock().now();
    bool says_who_works = true;
    std::vector<std::string> before;
    while (true) {
        auto report = place.agent().tick();
        if (!report && report.error().kind != base::ErrorKind::busy) return tl::unexpected(report.error());
        if (!report) {
            if (std::exchange(says_who_works, false))
                screen.line("Another run or tick of this site is at work; following its progress: " +
                            report.error().sentence);
            const auto journal = place.journal().read();
            std::vector<Attempt> active;
            for (const auto& attempt : journal ? journal->attempts : std::vector<Attempt>()) {
                if (!is_over(attempt.state)) active.push_back(attempt);
            }
            screen.show(place.views(active));
            // While the other one works, this one waits for it however long that takes.
            auto now = places_of(active);
            if (!active.empty() || now != before) moved = place.clock().now();
            before = std::move(now);
        } else {
            screen.show(place.views(report->active));
            sender.after_tick(report->plan, report->moved || is_settled(*report));
            if (is_enough(*report)) return std::move(report->plan);
            auto now = places_of(report->active);
            const bool running = std::any_of(
                report->active.begin(), report->active.end(),
                [](const Attempt& a) { return a.state == State::running || is_queued_or_preparing(a); });
            if (running || report->moved || now != before) moved = place.clock().now();
            before = std::move(now);
        }
        if (place.clock().now() - moved > run_patience_ms * 1000) {
            screen.line("Nothing has changed for " + base::render_duration_ms(run_patience_ms) +
                        "; stopping. No work is lost: the next `run` or `tick` continues.");
            return place.agent().look();
        }
        place.clock().sleep_ms(run_poll_ms);
    }
}

}  // namespace

int run_plan(const Arguments& arguments) {
    const auto place = Workplace::open(arguments.site, {}, "");
    if (!place) return complain(place.error(), exit_usage);
    const auto plan = (*place)->agent().look();
    if (!plan) return complain(plan.error(), exit_failed);
    if (arguments.json) {
        print(render_plan_json(*plan));
        return exit_well;
    }
    print(render_plan(*plan, arguments.explain));
    if (arguments.explain)
        print("\nSources are downloaded according to pip's configuration:\n" +
              render_pip_config((*place)->pip()));
    const auto& registry = (*place)->site().registry;
    if (arguments.explain && registry && registry->claim_tasks != "no") {
        const auto& reason = (*place)->agent().no_uploaded_sources();
        print("\nTasks with uploaded sources are " +
              (reason ? "not claimed: " + reason->text() : std::string("claimed, and built in a namespace")) +
              "\n");
    }
    return exit_well;
}

namespace {

// Ticks like cron: prints the errors of a failed tick, and tries again at the next one. Only a signal ends
// it.
int tick_for_ever(const Arguments& arguments) {
    std::fputs(("Running a tick every " + base::render_duration_ms(arguments.interval_s * ms_per_s) +
                ". It is safe to stop at any time: jobs continue.\n")
                   .c_str(),
               stderr);
    base::SystemClock clock;
    while (true) {
        static_cast<void>(run_tick(arguments));
        std::fflush(stdout);
        clock.sleep_ms(arguments.interval_s * ms_per_s);
    }
}

}  // namespace

int run_run(const Arguments& arguments) {
    if (arguments.interval_s > 0) return tick_for_ever(arguments);
    Screen screen(stderr, ::isatty(STDERR_FILENO) != 0);
    const auto note = [&screen](const Attempt& attempt, const std::string& text) {
        screen.line(event_line(attempt, text));
    };
    const auto place = Workplace::open(arguments.site, note, arguments.failpoint);
    if (!place) return complain(place.error(), exit_usage);
    const auto plan = tick_until(**place, screen, is_settled);
    if (!plan) return complain(plan.error(), exit_failed);
    for (const Cell& cell : plan->cells) {
        if (cell.awaits_others) screen.line("Not waiting for " + cell.name + ": " + cell.reason);
    }
    print(arguments.json ? render_plan_json(*plan) : render_plan(*plan, false));
    return has_all(*plan) ? exit_well : exit_failed;
}

namespace {

// With `stay`, ticks until no login-node step is running: in a batch job, the end of the job would kill these
// steps. Each step has its own time limit.
base::Result<TickReport> tick_and_stay(Workplace& place, StatusSender& sender, bool stay) {
    bool is_at_work = false;
    while (true) {
        auto report = place.agent().tick();
        if (report) {
            sender.after_tick(report->plan, report->moved);
            is_at_work = std::any_of(report->active.begin(), report->active.end(), awaits_login_node);
        } else if (report.error().kind != base::ErrorKind::busy) {  // busy: another tick ends before our step
            return report;
        }
        if (!stay || !is_at_work) return report;
        place.clock().sleep_ms(wait_first_ms);
    }
}

}  // namespace

int run_tick(const Arguments& arguments) {
    std::FILE* const out = arguments.json ? stderr : stdout;  // with --json, stdout is a single document
    bool is_idle = true;
    const auto note = [out, &is_idle](const Attempt& attempt, const std::string& text) {
        is_idle = false;
        std::fputs((event_line(attempt, text) + "\n").c_str(), out);
    };
    const auto place = Workplace::open(arguments.site, note, arguments.failpoint);
    if (!place) return complain(place.error(), exit_usage);
    StatusSender sender(
        **place, [](const std::string& text) { std::fputs(base::printable(text + "\n").c_str(), stderr); },
        arguments.interval_s);
    const auto report = tick_and_stay(**place, sender, arguments.stay);
    if (!report && report.error().kind == base::ErrorKind::busy) {
        std::fputs((report.error().text() + "\n").c_str(), out);
        return exit_well;
    }
    if (!report) return complain(report.error(), exit_failed);
    for (const auto& problem : report->journal_problems)
        complain(problem, exit_failed);
    if (arguments.json) print(render_plan_json(report->plan));
    // Not to cron, which would send it as a mail every few minutes.
    else if (is_idle && ::isatty(STDOUT_FILENO) != 0)
        print(render_idle_tick(report->plan));
    return report->journal_problems.empty() ? exit_well : exit_failed;
}

namespace {

using Request = base::Result<std::string> (Agent::*)(const std::string&);

// A tick of cron may hold the lock for a moment.
base::Result<std::string> ask_agent(Workplace& place, Request request, const std::string& name) {
    base::Clock& clock = place.clock();
    const base::UnixMicros began = clock.now();
    while (true) {
        auto done = (place.agent().*request)(name);
        if (done) return done;
        const bool may_wait =
            done.error().kind == base::ErrorKind::busy && !has_passed(clock.now(), began, max_lock_wait_ms);
        if (!may_wait) return done;
        clock.sleep_ms(lock_poll_ms);
    }
}

// Runs a person's request.
int run_request(const Arguments& arguments, Request request) {
    const auto place = Workplace::open(arguments.site, {}, arguments.failpoint);
    if (!place) return complain(place.error(), exit_usage);
    const auto done = ask_agent(**place, request, arguments.name);
    if (!done) return complain(done.error(), exit_failed);
    print(*done + "\n");
    return exit_well;
}

}  // namespace

int run_retry(const Arguments& arguments) {
    return run_request(arguments, arguments.rebuild ? &Agent::rebuild : &Agent::retry);
}

int run_retest(const Arguments& arguments) {
    return run_request(arguments, &Agent::retest);
}

int run_cancel(const Arguments& arguments) {
    return run_request(arguments, &Agent::cancel);
}

namespace {

// The last attempt of a cell; nullopt: none, or the journal cannot be read.
std::optional<Attempt> last_attempt(const Workplace& place, const std::string& cell) {
    const auto journal = place.journal().read();
    if (!journal) return std::nullopt;
    const Attempt* last = history_of(cell, journal->attempts).last;
    return last == nullptr ? std::nullopt : std::optional(*last);
}

int print_comparison(const Workplace& place, const Attempt& attempt, bool as_json) {
    const AttemptFolder folder = place.folder_of(attempt);
    const auto file = as_json ? folder.differences_json() : folder.differences();
    const auto text = base::read_untrusted_file(file, max_differences_bytes);
    if (!text) return complain(text.error(), exit_failed);
    print(*text);
    return attempt.reproduced.identical.value_or(false) ? exit_well : exit_failed;
}

}  // namespace

int run_reproduce(const Arguments& arguments) {
    Screen screen(stderr, ::isatty(STDERR_FILENO) != 0);
    const auto note = [&screen](const Attempt& attempt, const std::string& text) {
        screen.line(event_line(attempt, text));
    };
    const auto place = Workplace::open(arguments.site, note, arguments.failpoint);
    if (!place) return complain(place.error(), exit_usage);
    const auto cell = ask_agent(**place, &Agent::reproduce, arguments.name);
    if (!cell) return complain(cell.error(), exit_failed);
    const auto plan = tick_until(**place, screen, [&cell](const TickReport& report) {
        return !report.plan.start_nothing.empty() || report.plan.find(*cell) == nullptr;
    });
    if (!plan) return complain(plan.error(), exit_failed);
    const auto attempt = last_attempt(**place, *cell);
    if (attempt && attempt->state == State::done) return print_comparison(**place, *attempt, arguments.json);
    if (attempt && attempt->failure) return complain(attempt->failure->error, exit_failed);
    return complain({"reproduce.unfinished", "The reproduction is not over", *cell,
                     "`status` shows what it waits for; the next `tick`, `run` or `reproduce` continues it"},
                    exit_failed);
}

namespace {

int make_user_files(const Site& site, const Arguments& arguments) {
    if (arguments.to.empty())
        return complain({"site.no_folder", "No target folder", {}, "name one with --to"}, exit_usage);
    std::error_code error;
    const auto place = std::filesystem::absolute(arguments.to, error).lexically_normal();
    const auto files = render_user_files(site, place);
    if (!files) return complain(files.error(), exit_usage);
    if (const auto written = write_user_files(*files, place); !written)
        return complain(written.error(), exit_failed);
    if (arguments.json) {
        io::Json list = io::Json::array();
        for (const auto& file : *files)
            list.push(io::Json::object({{"path", file.path}, {"about", file.about}}));
        print(io::Json::object(
                  {{"format", "wheelyard.user-files/1"}, {"place", place.string()}, {"files", list}})
                  .render_pretty());
        return exit_well;
    }
    for (const auto& file : *files)
        print((place / file.path).string() + (file.about.empty() ? "" : "  " + file.about) + "\n");
    return exit_well;
}

}  // namespace

int run_site(const Arguments& arguments) {
    if (arguments.name == "init") return run_site_init(arguments);
    if (arguments.site.empty())
        return complain({"site.no_file", "No site file", {}, "name it with --site"}, exit_usage);
    const auto site = read_site(arguments.site);
    if (!site) return complain(site.error(), exit_usage);
    if (arguments.name == "user-files") return make_user_files(*site, arguments);
    const auto recipes = read_recipes(*site);
    if (!recipes) return complain(recipes.error(), exit_usage);
    const auto lines = check_site(*site, *recipes, base::current_environment());
    if (arguments.report) {
        const auto report =
            make_site_report(*site, arguments.site, base::current_environment(), lines, base::SystemClock());
        if (!report) return complain(report.error(), exit_failed);
        print(arguments.json ? render_site_report_json(*report) : render_site_report(*report));
        return all_good(lines) ? exit_well : exit_failed;
    }
    print(arguments.json ? render_site_lines_json(site->name, lines) : render_site_lines(lines));
    return all_good(lines) ? exit_well : exit_failed;
}

namespace {

int print_line(const Arguments& arguments, std::string (*render)(const CronInput&)) {
    const auto site = read_site(arguments.site);
    if (!site) return complain(site.error(), exit_usage);
    // The shell that cron starts opens the log first; without its folder the tick would not run.
    const auto made = base::make_directories(site->state_directory);
    if (!made) return complain(made.error(), exit_failed);
    std::error_code error;
    const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
    print(
        render({program, std::filesystem::absolute(arguments.site, error), site->state_directory / "tick.log",
                base::current_environment(), site->queue.account, site->tick_minutes, site->login_minutes}));
    return exit_well;
}

}  // namespace

int run_cron_line(const Arguments& arguments) {
    return print_line(arguments, render_cron_line);
}

int run_scrontab_line(const Arguments& arguments) {
    return print_line(arguments, render_scrontab_line);
}

}  // namespace wheelyard::builder
