// Counts attempts and describes the last failure.
#include "builder/plan/plan_history.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "builder/attempt/held_queues.hpp"
#include "builder/attempt/limits.hpp"
#include "builder/doctor/rule_book.hpp"
#include "builder/plan/plan.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

namespace {

struct BoundRow {
    FailureLimit limit;
    int Site::*max;  // nullptr: max_network_failures
    std::string_view noun;
};
constexpr std::array<BoundRow, failure_bounds> bounds = {{
    {FailureLimit::attempts, &Site::max_attempts, "attempts failed"},
    {FailureLimit::preemptions, &Site::max_preemptions, "preemptions"},
    {FailureLimit::node_failures, &Site::max_node_failures, "node failures"},
    {FailureLimit::network, nullptr, "network failures"},
}};

FailureLimit failure_limit_of(const Attempt& attempt) {
    return attempt.failure && attempt.failure->end ? end_row(*attempt.failure->end).limit
                                                   : FailureLimit::attempts;
}

std::size_t index_of(FailureLimit limit) {
    const auto* row =
        std::find_if(bounds.begin(), bounds.end(), [&](const BoundRow& one) { return one.limit == limit; });
    return static_cast<std::size_t>(row - bounds.begin());
}

// The words of a line without folders: those of attempts and of temporary files differ.
std::string without_folders(std::string_view line) {
    std::string text;
    for (const auto word : base::split(line, ' '))
        text.append(base::base_name(word)).append(" ");
    return text;
}

// Says whether two builds ended by themselves with the same error at the same line of the source: nothing
// that passes, such as a full disk or a lost node, does that.
bool failed_alike(const CellHistory& history) {
    if (history.before_last == nullptr) return false;
    const auto& before = history.before_last->failure;
    const auto& last = history.last->failure;
    return before && last && before->end == EndCause::failed && last->end == EndCause::failed &&
           before->phase == last->phase && !last->first_error.empty() &&
           without_folders(before->first_error) == without_folders(last->first_error);
}

// No rule names a cause, so nothing says what would make the next build end otherwise.
bool is_unexplained(const Failure& failure, const RuleBook& rules) {
    if (failure.end != EndCause::failed) return false;
    const DoctorRule* rule = rules.find(failure.cause);
    return rule == nullptr || (rule->weight <= Weight::symptom && rule->automatic == Automatic::no);
}

bool took_long(const Attempt& attempt) {
    constexpr std::int64_t micros_per_ms = 1000;
    const auto& phases = attempt.job.phases;
    return !phases.empty() &&
           attempt.job.ended - phases.front().began > max_unexplained_build_ms * micros_per_ms;
}

std::string commands_for(const std::string& cell, const Site& site) {
    return "read `" + pasted_command("logs", cell, site) +
           "`, change the source, the recipe or the site, then `" + pasted_command("retry", cell, site) + "`";
}

}  // namespace

CellHistory history_of(const std::string& cell, const std::vector<Attempt>& attempts) {
    CellHistory history;
    for (const auto& attempt : attempts) {
        if (attempt.asked.cell != cell || attempt.superseded) continue;
        if (history.last == nullptr || attempt.number >= history.last->number)
            history.before_last = std::exchange(history.last, &attempt);
        else if (history.before_last == nullptr || attempt.number >= history.before_last->number)
            history.before_last = &attempt;
        if (attempt.state != State::failed) continue;
        ++history.failures[index_of(failure_limit_of(attempt))];
        if (makes_wheel(attempt.asked.purpose) && attempt.failure &&
            attempt.failure->end == EndCause::time_limit)
            history.time_limits.push_back(attempt.job.max_walltime_minutes);
    }
    return history;
}

bool judge_active(Cell& cell, const CellHistory& history) {
    if (history.last == nullptr) return false;
    const Attempt& last = *history.last;
    cell.attempt = last.id;
    if (is_over(last.state)) return false;
    cell.set(CellState::active, std::string(state_text(last.state)) + waiting_suffix(last.waiting));
    return true;
}

int CellHistory::network_failures() const {
    return failures[index_of(FailureLimit::network)];
}

namespace {

// A server that just broke off would do it again: nothing begins before the network had time to come back.
void hold_for_network(Cell& cell, const CellHistory& history, base::UnixMicros now) {
    const Attempt& last = *history.last;
    if (cell.state != CellState::wanted || now == 0 || failure_limit_of(last) != FailureLimit::network)
        return;
    constexpr int max_doublings = 20;
    const int before = history.network_failures() - 1;
    const std::int64_t wait_ms =
        std::min(max_network_wait_ms, network_wait_first_ms << std::clamp(before, 0, max_doublings));
    const base::UnixMicros until = last.changed + wait_ms * 1000;
    if (is_due(now, until, wait_ms)) return;
    cell.set(CellState::held, "tries again after " + base::render_rfc3339(until) + "; " + cell.reason);
}

}  // namespace

void judge_failures(Cell& cell, const CellHistory& history, const Site& site, const std::string& why,
                    base::UnixMicros now) {
    cell.set(CellState::wanted, why);
    if (history.last == nullptr || !history.last->failure) return;
    const Failure& failure = *history.last->failure;
    std::vector<std::string> counts;
    bool too_often = false;
    // The next of these continues in the same tree and gets twice the time, up to the site's largest limit.
    const auto growing = std::count_if(
        history.time_limits.begin(), history.time_limits.end(),
        [&site](std::int64_t minutes) { return minutes > 0 && minutes < site.max_walltime_minutes; });
    if (growing > 0)
        counts.push_back(std::to_string(growing) + " reached a time limit below " +
                         std::to_string(site.max_walltime_minutes) + " minutes");
    for (std::size_t i = 0; i < bounds.size(); ++i) {
        const int max = bounds[i].max == nullptr ? max_network_failures : site.*bounds[i].max;
        const bool has_growing = bounds[i].limit == end_row(EndCause::time_limit).limit;
        const int failures = history.failures[i] - (has_growing ? static_cast<int>(growing) : 0);
        if (failures == 0) continue;
        too_often = too_often || failures >= max;
        counts.push_back(std::to_string(failures) + " of " + std::to_string(max) + " " +
                         std::string(bounds[i].noun));
    }
    const std::string description = failure.phase + ": " + failure.error.sentence +
                                    (failure.first_error.empty() ? "" : " [" + failure.first_error + "]");
    const bool alike = !too_often && failed_alike(history);
    const bool is_known = !failure.try_again || too_often || !is_unexplained(failure, *site.doctor_rules);
    cell.needs_person = !is_known && (alike || took_long(*history.last));
    if (!failure.try_again || too_often || alike || cell.needs_person) cell.state = CellState::given_up;
    cell.has_failed = cell.state == CellState::given_up;
    if (cell.needs_person) {
        // The commands first: pages cut long reasons.
        cell.reason = std::string("needs_person: failed ") +
                      (alike ? "twice with the same error" : "after more than an hour") +
                      ", which no rule explains: " + commands_for(cell.name, site) + "; failed in " +
                      description;
        return;
    }
    cell.reason = (!failure.try_again ? "failed for good in "
                   : alike            ? "failed twice with the same error in "
                                      : base::join(counts, ", ") + "; the last in ") +
                  description;
    if (const DoctorRule* rule = site.doctor_rules->find(failure.cause)) cell.remedy = rule->remedy;
    hold_for_network(cell, history, now);
}

Uploaded uploaded_wheels(const World& world, const Site& site) {
    Uploaded count;
    for (const auto& attempt : world.attempts) {
        const bool is_upload = attempt.asked.purpose == Purpose::build && attempt.state == State::done;
        const bool is_elsewhere =
            site.registry && !attempt.wheel.index.empty() && attempt.wheel.index != site.registry->index;
        if (!is_upload || is_elsewhere || attempt.superseded) continue;
        const auto page = world.published.find(attempt.asked.package);
        if (page == world.published.end() || !page->second) {
            ++count.unknown;
            continue;
        }
        const auto has_it = [&](const simple::FileLink& file) {
            return file.filename == attempt.wheel.filename;
        };
        const bool is_shown = *page->second && std::any_of((*page->second)->files.begin(),
                                                           (*page->second)->files.end(), has_it);
        ++(is_shown ? count.shown : count.lost);
    }
    return count;
}

std::string decision_for_person(const Attempt& attempt, const std::vector<Attempt>& attempts,
                                const Site& site) {
    const CellHistory history = history_of(attempt.asked.cell, attempts);
    if (history.last == nullptr || history.last->id != attempt.id || !is_over(attempt.state)) return {};
    Cell cell;
    cell.name = attempt.asked.cell;
    judge_failures(cell, history, site, "");
    return cell.needs_person ? cell.reason : std::string();
}

// The reproductions that a person has requested, as cells.
std::vector<Cell> with_reproductions(std::vector<Cell> plan, const PlanInput& input) {
    std::set<std::string> names;
    for (const Attempt& attempt : input.world.attempts) {
        if (attempt.asked.purpose == Purpose::reproduction && !attempt.superseded)
            names.insert(attempt.asked.cell);
    }
    for (const std::string& name : names) {
        const CellHistory history = history_of(name, input.world.attempts);
        const Attempt& last = *history.last;
        if (last.state == State::done) continue;
        Cell cell;
        cell.name = name;
        cell.package = last.asked.package;
        cell.version = last.asked.version;
        cell.python = last.asked.python;
        cell.accelerator = last.asked.accelerator;
        cell.against = last.asked.against;
        cell.purpose = Purpose::reproduction;
        if (last.asked.closure) cell.of_closure = ClosureWant{.part = last.asked.closure};
        cell.recipe =
            recipe_text(recipe_for(input.site, input.recipes, cell.package, cell.version, cell.accelerator));
        if (!judge_active(cell, history))
            judge_failures(cell, history, input.site, "requested", input.world.now);
        if (cell.state != CellState::given_up) plan.push_back(std::move(cell));
    }
    return plan;
}

}  // namespace wheelyard::builder
