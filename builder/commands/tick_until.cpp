#include "builder/commands/tick_until.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "builder/workplace/notices.hpp"
#include "builder/workplace/status_sender.hpp"
#include "lib/base/process/terminal.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/text_table.hpp"
#include "lib/base/text/utf8.hpp"

namespace wheelyard::builder {

namespace {

// Says whether a later tick can continue the cell without anybody's help.
bool is_waiting(const Cell& cell) {
    return cell.state == CellState::held && !cell.awaits_others;
}

// Says whether the attempt's job is queued or the login node prepares it.
bool is_queued_or_preparing(const Attempt& attempt) {
    return attempt.waiting.what == WaitFor::queue || awaits_login_node(attempt);
}

std::vector<std::string> places_of(const std::vector<Attempt>& active) {
    std::vector<std::string> places;
    for (const auto& attempt : active)
        places.push_back(attempt.id + std::string(state_text(attempt.state)));
    return places;
}

}  // namespace

std::string event_line(const Attempt& attempt, const std::string& text) {
    return attempt.asked.cell + " " + attempt.id + ": " + text;
}

bool awaits_login_node(const Attempt& attempt) {
    return attempt.waiting.what == WaitFor::login_step;
}

bool awaits_closure(const Plan& plan) {
    return std::any_of(plan.cells.begin(), plan.cells.end(), [](const Cell& cell) {
        return cell.of_closure && cell.of_closure->is_unresolved && cell.state == CellState::held;
    });
}

bool is_settled(const TickReport& report) {
    // Wheels whose upload waits for a person to replace the token do not count.
    const bool others = std::any_of(report.active.begin(), report.active.end(), [&](const Attempt& attempt) {
        return !report.uploads_paused || attempt.state != State::uploading;
    });
    if (others || report.may_claim) return false;
    const bool paused = !report.active.empty();
    const auto& cells = report.plan.cells;
    return !report.plan.start_nothing.empty() ||
           (report.plan.count(CellState::wanted) == 0 &&
            (paused || std::none_of(cells.begin(), cells.end(), is_waiting)));
}

std::int64_t next_tick_ms(std::int64_t unchanged_ms, bool asks_batch_system) {
    const std::int64_t wanted = unchanged_ms / run_poll_share;
    return asks_batch_system ? std::clamp(wanted, batch_poll_ms, max_batch_poll_ms)
                             : std::clamp(wanted, run_poll_ms, max_run_poll_ms);
}

namespace {

// Says once what nothing moves before a time of the clock, so that a wait of minutes is no silence.
void say_waits(const TickReport& report, std::set<std::string>& said, Screen& screen) {
    for (const Cell& cell : report.plan.cells) {
        const std::string line = cell.name + " waits: " + cell.reason;
        if (is_waiting(cell) && !cell.of_closure && said.insert(line).second) screen.line(line);
    }
}

// Notes the cells that are over, and adds those that the plan no longer has.
void note_over(Plan& plan, std::map<std::string, Cell>& over) {
    std::set<std::string> names;
    for (const Cell& cell : plan.cells) {
        names.insert(cell.name);
        if (cell.state == CellState::have || cell.state == CellState::given_up ||
            cell.state == CellState::impossible)
            over.insert_or_assign(cell.name, cell);
        else
            over.erase(cell.name);
    }
    for (const auto& [name, cell] : over)
        if (!names.contains(name)) plan.cells.push_back(cell);
}

}  // namespace

base::Result<Plan> tick_until(Workplace& place, Screen& screen,
                              const std::function<bool(const TickReport&)>& is_enough) {
    StatusSender sender(place, [&screen](const std::string& text) { screen.line(text); });
    base::UnixMicros changed = place.clock().now();  // when an attempt last moved
    base::UnixMicros useful = changed;               // when waiting last made sense
    bool says_who_works = true;
    std::set<std::string> said;
    std::vector<std::string> before;
    std::map<std::string, Cell>
        over;  // also of tasks, which leave the plan when the registry knows their end
    while (true) {
        if (const auto refused = place.renew_token()) screen.line(refused->text());
        auto report = place.agent().tick();
        if (!report && report.error().kind != base::ErrorKind::busy) return tl::unexpected(report.error());
        std::vector<Attempt> active;
        bool is_working = false;
        if (!report) {
            if (std::exchange(says_who_works, false))
                screen.line("Another run or tick of this site is at work; following its progress: " +
                            report.error().sentence);
            const auto journal = place.journal().read();
            for (const auto& attempt : journal ? journal->attempts : std::vector<Attempt>()) {
                if (!is_over(attempt.state)) active.push_back(attempt);
            }
            screen.show(place.views(active));
            // While the other one works, this one waits for it however long that takes.
            is_working = !active.empty();
        } else {
            screen.show(place.views(report->active));
            sender.after_tick(report->plan, report->moved || is_settled(*report));
            if (const auto notified = notify_after_tick(place, *report); !notified)
                screen.line(notified.error().text());
            const bool is_last = is_enough(*report);
            note_over(report->plan, over);
            if (!is_last && report->active.empty()) say_waits(*report, said, screen);
            if (is_last) return std::move(report->plan);
            active = std::move(report->active);
            is_working = awaits_closure(report->plan) ||
                         std::any_of(active.begin(), active.end(), [](const Attempt& a) {
                             return a.state == State::running || is_queued_or_preparing(a);
                         });
        }
        auto places = places_of(active);
        if ((report && report->moved) || places != before) changed = place.clock().now();
        before = std::move(places);
        useful = is_working ? place.clock().now() : std::max(useful, changed);
        if (place.clock().now() - useful > run_patience_ms * 1000) {
            screen.line("Nothing has changed for " + base::render_duration_ms(run_patience_ms) +
                        "; stopping. No work is lost: the next `run` or `tick` continues.");
            return place.agent().look();
        }
        const bool asks =
            place.site().scheduler->batch &&
            std::any_of(active.begin(), active.end(), [](const Attempt& a) { return may_have_job(a.state); });
        place.clock().sleep_ms(next_tick_ms((place.clock().now() - changed) / 1000, asks));
    }
}

namespace {

// A wrapped line cannot be redrawn. The last column stays free: some terminals wrap when it is written.
std::string cut_to(const std::string& text, std::size_t columns) {
    if (text.size() < columns) return text;
    constexpr std::string_view more = " …";
    constexpr std::size_t more_columns = 2;
    if (columns <= more_columns + 1) return {};
    return std::string(base::cut_utf8(text, columns - more_columns - 1)).append(more);
}

}  // namespace

// Asked each time: the window may have another size now.
std::size_t Screen::columns() const {
    const std::size_t known = base::terminal_columns(::fileno(out_));
    return known == 0 ? base::default_columns : known;
}

void Screen::clear() {
    if (drawn_) std::fputs("\r\033[K", out_);
    drawn_ = false;
}

void Screen::line(const std::string& text) {
    clear();
    base::print(out_, terminal_ ? base::wrap_lines(text + "\n", columns()) : text + "\n");
    std::fflush(out_);
}

void Screen::show(const std::vector<AttemptView>& active) {
    if (terminal_) {
        std::string text;
        for (const auto& view : active) {
            text += (text.empty() ? "" : " | ") + view.attempt.asked.package + " " +
                    view.attempt.asked.version + ": " + render_activity(view);
        }
        clear();
        base::print(out_, cut_to(base::printable_line(text), columns()));
        std::fflush(out_);
        drawn_ = !active.empty();
        return;
    }
    for (const auto& view : active) {
        if (view.attempt.state != State::running || view.progress.phase.empty()) continue;
        const int tenth = view.progress.total == 0 ? 0 : view.progress.done * 10 / view.progress.total;
        const std::string now = view.progress.phase + " " + std::to_string(tenth);
        if (std::exchange(said_[view.attempt.id], now) != now)
            line(view.attempt.asked.cell + ": " + render_activity(view));
    }
}

namespace {

// libcurl says how long it tried: "after 12 ms:", "after 10001 milliseconds". What differs in that alone is
// no news.
std::string without_waits(std::string_view line) {
    constexpr std::string_view before = " after ";
    std::string text(line);
    for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at + before.size())) {
        const auto begin = at + before.size();
        const auto end = std::min(text.find_first_not_of("0123456789", begin), text.size());
        const std::string_view unit = std::string_view(text).substr(end);
        if (end > begin && (unit.starts_with(" ms") || unit.starts_with(" milliseconds")))
            text.erase(begin, end - begin);
    }
    return text;
}

}  // namespace

void TickLines::begin() {
    before_ = std::exchange(now_, {});
}

std::string TickLines::fresh(std::string_view text, base::UnixMicros now) {
    constexpr std::size_t to_the_second = 19;
    const std::string time = base::render_rfc3339(now).substr(0, to_the_second) + "Z ";
    std::string lines;
    for (const auto line : base::split_lines(text)) {
        const std::string said = without_waits(line);
        const bool is_new = now_.insert(said).second && !before_.contains(said);
        if (is_new) lines.append(time).append(line).append("\n");
    }
    return lines;
}

}  // namespace wheelyard::builder
