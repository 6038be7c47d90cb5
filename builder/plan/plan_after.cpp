// A test result is valid only for the digest of the tested wheel: a wheel with another digest is tested
// again.
#include "builder/plan/plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "builder/plan/plan_history.hpp"
#include "builder/script/hardware_test.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

Cell follow(const Cell& cell, Purpose purpose) {
    Cell next = cell;
    next.purpose = purpose;
    next.for_task = false;  // it uploads nothing
    next.build = 0;
    next.name += "-" + std::string(purpose_text(purpose));
    next.attempt.clear();
    return next;
}

// Excludes finished attempts at a wheel with the same name and another digest.
std::vector<Attempt> attempts_at(const Cell& cell, const World& world) {
    std::vector<Attempt> attempts;
    for (const auto& attempt : world.attempts) {
        if (attempt.asked.cell == cell.name &&
            (!is_over(attempt.state) || attempt.source.sha256 == cell.wheel->sha256))
            attempts.push_back(attempt);
    }
    return attempts;
}

void judge_test(Cell& cell, const HardwareTest& test, const Site& site, const World& world) {
    const std::vector<Attempt> attempts = attempts_at(cell, world);
    const CellHistory history = history_of(cell.name, attempts);
    if (judge_active(cell, history)) return;
    if (history.last != nullptr && history.last->state == State::done) {
        return cell.set(CellState::have, "passed, attempt " + history.last->id);
    }
    judge_failures(cell, history, site, cell.wheel->filename + " is not tested yet", world.now);
    if (test.nodes > 1 && !site.scheduler->batch) {
        cell.set(CellState::impossible, "it needs " + std::to_string(test.nodes) + " nodes, and the " +
                                            std::string(site.scheduler->name) + " scheduler has one");
    }
}

// By its own promotion or by that of its set.
bool was_promoted(const Cell& cell, const CellHistory& history, const World& world) {
    if (history.last != nullptr && history.last->state == State::done) return true;
    return std::any_of(world.attempts.begin(), world.attempts.end(), [&](const Attempt& attempt) {
        const auto& with = attempt.asked.with;
        return attempt.state == State::done && !attempt.superseded &&
               std::find(with.begin(), with.end(), cell.wheel->filename) != with.end();
    });
}

void judge_promotion(Cell& cell, const std::vector<Cell>& tests, const PlanInput& input) {
    const std::string& to = input.site.registry->promote_to;
    const auto promoted = input.world.promoted.find(cell.package);
    if (promoted == input.world.promoted.end() || !promoted->second) {
        return cell.set(CellState::unknown, promoted == input.world.promoted.end()
                                                ? "the registry was not queried"
                                                : promoted->second.error().text());
    }
    const auto& page = *promoted->second;
    const auto* there = page ? simple::find_file(*page, cell.wheel->filename) : nullptr;
    if (there != nullptr) {
        const bool same = there->sha256 == cell.wheel->sha256;
        return cell.set(
            same ? CellState::have : CellState::given_up,
            same ? "in index `" + to + "`" : "index `" + to + "` has a different file with this name");
    }
    const std::vector<Attempt> attempts = attempts_at(cell, input.world);
    const CellHistory history = history_of(cell.name, attempts);
    if (judge_active(cell, history)) return;
    if (was_promoted(cell, history, input.world)) {
        return cell.set(CellState::given_up, "it was promoted, and index `" + to + "` no longer has it; `" +
                                                 pasted_command("retry", cell.name, input.site) +
                                                 "` promotes it again");
    }
    std::vector<std::string> awaited;
    for (const auto& test : tests) {
        if (test.state != CellState::have) awaited.push_back(test.name);
    }
    judge_failures(cell, history, input.site, "not in index `" + to + "`");
    if (cell.state != CellState::wanted || awaited.empty()) return;
    const bool never = std::any_of(tests.begin(), tests.end(), [](const Cell& test) {
        return test.state == CellState::given_up || test.state == CellState::impossible;
    });
    cell.set(never ? CellState::impossible : CellState::held,
             (never ? "without " : "after ") + base::join(awaited, ", "));
}

std::vector<Cell> tests_of(const Cell& cell, const PlanInput& input) {
    const Recipe recipe = recipe_for(input.site, input.recipes, cell.package, cell.version, cell.accelerator);
    std::vector<Cell> tests;
    for (const Purpose purpose : {Purpose::gpu_test, Purpose::multi_node_test}) {
        const HardwareTest& test = hardware_test_of(recipe, purpose);
        if (!is_run_here(test, purpose, input.site, cell.accelerator)) continue;
        Cell next = follow(cell, purpose);
        judge_test(next, test, input.site, input.world);
        tests.push_back(std::move(next));
    }
    return tests;
}

}  // namespace

std::vector<Cell> with_tests_and_promotions(std::vector<Cell> plan, const PlanInput& input) {
    if (!input.site.registry) return plan;
    std::vector<std::vector<Cell>> tests;
    std::map<std::string, std::vector<Cell>> tests_of_wheel;  // by its digest
    for (const Cell& cell : plan) {
        // Tests would run an uploaded source's wheel with the agent's rights. A person promotes it.
        tests.push_back(cell.wheel && !cell.uploaded ? tests_of(cell, input) : std::vector<Cell>());
        for (const Cell& test : tests.back())
            tests_of_wheel[cell.wheel->sha256].push_back(test);
    }
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < plan.size(); ++i) {
        cells.push_back(plan[i]);
        std::move(tests[i].begin(), tests[i].end(), std::back_inserter(cells));
        if (!plan[i].wheel || plan[i].uploaded || input.site.registry->promote_to.empty()) continue;
        Cell promotion = follow(plan[i], Purpose::promotion);
        judge_promotion(promotion, tests_of_wheel[plan[i].wheel->sha256], input);
        cells.push_back(std::move(promotion));
    }
    promote_as_sets(cells, *input.site.registry);
    return cells;
}

}  // namespace wheelyard::builder
