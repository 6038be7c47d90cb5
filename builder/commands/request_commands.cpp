// The subcommands with which a person changes what the agent does with a cell: retry, retest, cancel,
// reproduce.
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <optional>

#include "builder/attempt/held_queues.hpp"
#include "builder/commands/commands.hpp"
#include "builder/commands/tick_until.hpp"
#include "builder/plan/plan_history.hpp"
#include "lib/base/files/untrusted_file.hpp"

namespace wheelyard::builder {
namespace {

// How long `retry`, `retest` and `cancel` wait for the lock of a tick.
constexpr std::int64_t max_lock_wait_ms = 30'000;
constexpr std::int64_t lock_poll_ms = 100;

constexpr std::uint64_t max_differences_bytes = 4u << 20;  // differences.txt or .json of an attempt

using Request = std::function<base::Result<std::string>(Agent&)>;

// A tick of cron may hold the lock for a moment.
base::Result<std::string> ask_agent(Workplace& place, const Request& request) {
    base::Clock& clock = place.clock();
    const base::UnixMicros began = clock.now();
    while (true) {
        auto done = request(place.agent());
        if (done) return done;
        const bool may_wait =
            done.error().kind == base::ErrorKind::busy && !has_passed(clock.now(), began, max_lock_wait_ms);
        if (!may_wait) return done;
        clock.sleep_ms(lock_poll_ms);
    }
}

// Runs a person's request.
int run_request(const std::filesystem::path& site, const Request& request) {
    const auto place = Workplace::open(site);
    if (!place) return complain(place.error(), exit_usage);
    const auto done = ask_agent(**place, request);
    if (!done) return complain(done.error(), exit_failed);
    tell(*done + "\n");
    return exit_well;
}

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
    tell(*text);
    return attempt.reproduced.identical.value_or(false) ? exit_well : exit_failed;
}

}  // namespace

int run_retry(const RetryOptions& options) {
    if (!options.cell.empty() + options.all + !options.code.empty() != 1)
        return complain({"retry.which", "Give one of CELL, --all and --code CODE", options.cell}, exit_usage);
    return run_request(options.site, [&options](Agent& agent) {
        if (options.cell.empty()) return agent.retry_given_up(options.code, !options.rebuild);
        return options.rebuild ? agent.rebuild(options.cell) : agent.retry(options.cell);
    });
}

int run_retest(const RetestOptions& options) {
    return run_request(options.site, [&](Agent& agent) { return agent.retest(options.test); });
}

int run_cancel(const CancelOptions& options) {
    return run_request(options.site, [&](Agent& agent) { return agent.cancel(options.attempt); });
}

int run_reproduce(const CellOptions& options) {
    Screen screen(stderr, ::isatty(STDERR_FILENO) != 0);
    const auto note = [&screen](const Attempt& attempt, const std::string& text) {
        screen.line(event_line(attempt, text));
    };
    const auto place = Workplace::open(options.site, note);
    if (!place) return complain(place.error(), exit_usage);
    const auto cell = ask_agent(**place, [&](Agent& agent) { return agent.reproduce(options.cell); });
    if (!cell) return complain(cell.error(), exit_failed);
    const auto plan = tick_until(**place, screen, [&cell](const TickReport& report) {
        return !report.plan.start_nothing.empty() || report.plan.find(*cell) == nullptr;
    });
    if (!plan) return complain(plan.error(), exit_failed);
    const auto attempt = last_attempt(**place, *cell);
    if (attempt && attempt->state == State::done) return print_comparison(**place, *attempt, options.json);
    if (attempt && attempt->failure) return complain(attempt->failure->error, exit_failed);
    return complain({"reproduce.unfinished", "The reproduction is not over", *cell,
                     "`status` shows what it waits for; the next `tick`, `run` or `reproduce` continues it"},
                    exit_failed);
}

}  // namespace wheelyard::builder
