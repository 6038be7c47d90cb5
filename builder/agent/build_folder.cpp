#include "builder/agent/build_folder.hpp"

#include <map>
#include <set>

namespace wheelyard::builder {
namespace {

// A finished build has no tree; an attempt's tree ends when the next one at its cell begins.
std::set<std::string> trees_of_others(const Attempt& attempt, const std::vector<Attempt>& attempts) {
    std::map<std::string, const Attempt*> last;
    std::set<std::string> taken;
    for (const Attempt& other : attempts) {
        if (other.asked.cell == attempt.asked.cell) continue;
        if (!is_over(other.state)) taken.insert(other.job.tree);
        const Attempt*& of_cell = last[other.asked.cell];
        if (of_cell == nullptr || other.number >= of_cell->number) of_cell = &other;
    }
    for (const auto& [cell, other] : last) {
        if (other->state == State::failed && other->tree.removed == 0) taken.insert(other->job.tree);
    }
    return taken;
}

}  // namespace

std::string choose_tree(const Attempt& attempt, const std::vector<Attempt>& attempts,
                        const IsBusyTree& is_busy) {
    if (!attempt.job.builds_in.empty()) return attempt.job.tree;
    const auto taken = trees_of_others(attempt, attempts);
    const auto is_free = [&](const std::string& tree) { return !taken.contains(tree) && !is_busy(tree); };
    const std::string& recorded = attempt.reproduced.tree;
    if (!recorded.empty() && is_free(recorded)) return recorded;
    for (int number = 1;; ++number) {
        std::string tree = attempt.asked.package + "-" + std::to_string(number);
        if (is_free(tree)) return tree;
    }
}

}  // namespace wheelyard::builder
