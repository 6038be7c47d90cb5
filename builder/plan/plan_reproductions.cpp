// The reproductions that a person has requested, as cells.
#include "builder/plan/plan_after.hpp"

#include <set>

#include "builder/plan/plan_history.hpp"

namespace wheelyard::builder {

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
