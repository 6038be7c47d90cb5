// A set is a package of one version, Python and accelerator with all that is built against it, directly or
// not. Cells that the site file excludes, or whose versions do not fit that package, are built against
// nothing and belong to no set.
#include "builder/plan/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

// The cells of one wheel, as positions in the plan.
struct Member {
    std::size_t build = 0;
    std::vector<std::size_t> tests = {};
    std::optional<std::size_t> promotion = {};  // none: the wheel is not built yet
};
using Set = std::vector<Member>;  // the package that the others are built against comes first

std::vector<Member> members_of(const std::vector<Cell>& cells) {
    std::vector<Member> members;
    for (std::size_t at = 0; at < cells.size(); ++at) {
        if (cells[at].purpose == Purpose::build)
            members.push_back({at});
        else if (cells[at].purpose == Purpose::promotion)
            members.back().promotion = at;
        else
            members.back().tests.push_back(at);
    }
    return members;
}

// What `cell` is built against, as a position in `members`.
std::optional<std::size_t> base_of(const Cell& cell, const std::vector<Member>& members,
                                   const std::vector<Cell>& cells) {
    if (cell.against.empty()) return std::nullopt;
    for (std::size_t at = 0; at < members.size(); ++at) {
        const Cell& other = cells[members[at].build];
        if (cell.against == other.package + "==" + other.version && cell.python == other.python &&
            (cell.accelerator.empty() || cell.accelerator == other.accelerator))
            return at;
    }
    return std::nullopt;
}

std::vector<Set> sets_of(const std::vector<Cell>& cells) {
    const std::vector<Member> members = members_of(cells);
    std::map<std::size_t, Set> sets;  // by the position of the first member
    for (std::size_t at = 0; at < members.size(); ++at) {
        std::size_t first = at;
        for (std::size_t step = 0; step < members.size(); ++step) {
            const auto base = base_of(cells[members[first].build], members, cells);
            if (!base) break;
            first = *base;
        }
        Set& set = sets[first];
        set.insert(first == at ? set.begin() : set.end(), members[at]);
    }
    std::vector<Set> found;
    for (auto& [first, set] : sets) {
        if (set.size() > 1) found.push_back(std::move(set));
    }
    return found;
}

bool is_hopeless(const Cell& cell) {
    return cell.state == CellState::given_up || cell.state == CellState::impossible;
}

// A wheel in the index of another identity, or a source of information that does not answer.
bool needs_others(const Cell& cell) {
    return cell.awaits_others || cell.state == CellState::unknown || cell.state == CellState::have;
}

// The cells that keep a wheel from being promoted: its build, its tests, or the state of its promotion.
std::vector<const Cell*> blockers_of(const Member& member, const std::vector<Cell>& cells) {
    if (!member.promotion) return {&cells[member.build]};
    const Cell& promotion = cells[*member.promotion];
    if (promotion.state == CellState::have || promotion.state == CellState::wanted) return {};
    std::vector<const Cell*> blockers;
    for (const std::size_t test : member.tests) {
        if (cells[test].state != CellState::have) blockers.push_back(&cells[test]);
    }
    if (blockers.empty() || promotion.state == CellState::active) return {&promotion};
    return blockers;
}

// "torchvision-0.19.0-cp312-gpu-test is given up (1 of 1 attempts failed; …)"
std::string describe(const std::vector<const Cell*>& blockers) {
    std::vector<std::string> texts;
    for (const Cell* cell : blockers) {
        texts.push_back(cell->name + " is " + std::string(cell_state_text(cell->state)) +
                        (cell->reason.empty() ? "" : " (" + cell->reason + ")"));
    }
    return base::join(texts, "; ");
}

void promote_as_set(std::vector<Cell>& cells, const Set& set, const std::string& staging) {
    std::vector<Cell*> ready;
    std::vector<const Cell*> blockers;
    for (const Member& member : set) {
        if (member.promotion && cells[*member.promotion].state == CellState::wanted)
            ready.push_back(&cells[*member.promotion]);
        for (const Cell* blocker : blockers_of(member, cells))
            blockers.push_back(blocker);
    }
    if (ready.empty()) return;
    const auto first_hopeless = std::stable_partition(blockers.begin(), blockers.end(),
                                                      [](const Cell* cell) { return is_hopeless(*cell); });
    const bool never = first_hopeless != blockers.begin();
    if (!blockers.empty()) {
        if (never) blockers.erase(first_hopeless, blockers.end());
        const std::string reason = "its set stays in index `" + staging + "`: " + describe(blockers);
        const bool for_others = !never && std::any_of(blockers.begin(), blockers.end(),
                                                      [](const Cell* cell) { return needs_others(*cell); });
        for (Cell* promotion : ready) {
            promotion->state = never ? CellState::impossible : CellState::held;
            promotion->reason = reason;
            promotion->awaits_others = for_others;
        }
        return;
    }
    Cell& leader = *ready.front();
    for (std::size_t at = 1; at < ready.size(); ++at) {
        ready[at]->state = CellState::held;
        ready[at]->reason = leader.name + " promotes it, with its set";
        leader.with.push_back(ready[at]->wheel->filename);
    }
    if (!leader.with.empty()) leader.reason += "; with " + base::join(leader.with, ", ");
}

}  // namespace

void promote_as_sets(std::vector<Cell>& cells, const RegistrySettings& registry) {
    for (const Set& set : sets_of(cells))
        promote_as_set(cells, set, registry.index);
}

}  // namespace wheelyard::builder
