// The history of one cell in chronological order: what the plan decides, each attempt with the resources that
// its job requested and used, its failure, and what the agent does next. Pure.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/doctor/rule_book.hpp"
#include "builder/plan/plan.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::builder {

struct CellStory {
    std::string name;               // of the cell
    std::optional<Cell> cell;       // from the plan; absent: no [[want]] names it (any more)
    std::vector<Attempt> attempts;  // sorted by number
    std::string sizes = {};         // of its job: each number with the key that decides it (request.hpp)
    std::optional<wire::Task> claimed_task = {};  // the registry's task that it is built for
    std::map<std::string, std::string> jobs =
        {};                                   // by attempt, in its scheduler's words now; absent: none runs
    std::vector<HeldQueue> held_queues = {};  // those that refuse its jobs for now
    std::vector<std::string> tests_not_run = {};    // of its recipe, each with the reason (hardware_test.hpp)
    std::string retry = "wheelyard-builder retry";  // the whole command
    std::shared_ptr<const RuleBook> rules = RuleBook::ours();  // of the site
};

[[nodiscard]] std::string render_story(const CellStory& story);
[[nodiscard]] std::string render_story_json(const CellStory& story);  // "wheelyard.explain/1"

}  // namespace wheelyard::builder
