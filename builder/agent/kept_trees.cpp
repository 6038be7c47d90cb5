// The journal records each tree's size, so a tick that has nothing to remove does not read the disk.
#include "builder/agent/kept_trees.hpp"

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "builder/attempt/temporary_files.hpp"
#include "builder/sources/source_cache.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;

bool is_one_of(CellState state, std::initializer_list<CellState> states) {
    return std::find(states.begin(), states.end(), state) != states.end();
}

// Says whether another attempt at the cell may begin automatically, now or once an index or Python answers.
bool may_begin_again(const Attempt& attempt, const Plan& plan) {
    using enum CellState;
    for (const Cell& cell : plan.cells) {
        if (cell.name == attempt.asked.cell) return is_one_of(cell.state, {active, wanted, held, unknown});
    }
    // While a Python or an index does not answer, the version is unknown, and so is the cell's name.
    return std::any_of(plan.cells.begin(), plan.cells.end(), [&](const Cell& cell) {
        return cell.package == attempt.asked.package && cell.python == attempt.asked.python &&
               is_one_of(cell.state, {unknown, impossible});
    });
}

// The paths that only the job needed. The wheel of a failed upload is excluded: it may still be uploaded.
std::vector<fs::path> paths_of_tree(const Attempt& attempt, const AttemptFolder& folder) {
    std::vector<fs::path> paths = folder.bulk();
    if (keeps_wheel(attempt)) std::erase(paths, folder.wheel());
    return paths;
}

std::uint64_t measure(const std::vector<fs::path>& paths) {
    std::uint64_t bytes = 0;
    for (const auto& path : paths)
        bytes += bytes_below(path);
    return bytes;
}

// Writes the journal before the removal: after a kill in between, no attempt continues in a partial tree.
base::Status remove_tree(Attempt& attempt, const AgentParts& parts, const AttemptFolder& folder) {
    attempt.tree.removed = parts.clock.now();
    WHEELYARD_TRY(parts.journal.write(attempt));
    parts.failpoints.hit(tree_failpoint);
    for (const auto& path : paths_of_tree(attempt, folder))
        WHEELYARD_TRY(free_space(path, parts.keep_alive));
    parts.report(attempt, "its build tree was removed (" +
                              base::render_bytes(attempt.tree.bytes.value_or(0)) +
                              "): the trees of given-up cells exceed work.trees_gib");
    attempt.tree.bytes = 0;
    return parts.journal.write(attempt);
}

}  // namespace

std::vector<Attempt*> list_kept_trees(std::vector<Attempt>& attempts, const Plan& plan) {
    std::map<std::string, Attempt*> last;
    std::set<std::string> under_way;
    for (Attempt& attempt : attempts) {
        if (!is_over(attempt.state)) under_way.insert(attempt.asked.cell);
        Attempt*& of_cell = last[attempt.asked.cell];
        if (of_cell == nullptr || attempt.number >= of_cell->number) of_cell = &attempt;
    }
    std::vector<Attempt*> kept;
    for (const auto& [cell, attempt] : last) {
        const bool has_tree = attempt->state == State::failed && attempt->tree.bytes != 0;
        if (has_tree && !under_way.contains(cell) && !may_begin_again(*attempt, plan))
            kept.push_back(attempt);
    }
    std::sort(kept.begin(), kept.end(), [](const Attempt* a, const Attempt* b) {
        return std::tie(a->changed, a->id) < std::tie(b->changed, b->id);
    });
    return kept;
}

std::vector<Attempt*> choose_trees_to_remove(const std::vector<Attempt*>& kept, std::uint64_t max_bytes) {
    std::uint64_t held = 0;
    for (const Attempt* attempt : kept)
        held += attempt->tree.bytes.value_or(0);
    std::vector<Attempt*> chosen;
    for (Attempt* attempt : kept) {
        if (held <= max_bytes) break;
        if (!attempt->tree.bytes) continue;
        held -= *attempt->tree.bytes;
        chosen.push_back(attempt);
    }
    return chosen;
}

base::Status trim_kept_trees(const AgentParts& parts, const Plan& plan, std::vector<Attempt>& attempts) {
    // While the journal is incomplete, an unknown attempt may continue in one of the trees.
    if (!plan.start_nothing.empty()) return {};
    const std::vector<Attempt*> kept = list_kept_trees(attempts, plan);
    int more = max_trees_per_tick;
    for (Attempt* attempt : kept) {
        if (attempt->tree.bytes || more == 0) continue;
        --more;
        WHEELYARD_TRY(parts.still_ours());
        attempt->tree.bytes = measure(paths_of_tree(*attempt, parts.folder_of(*attempt)));
        WHEELYARD_TRY(parts.journal.write(*attempt));
    }
    const auto max_bytes = static_cast<std::uint64_t>(parts.site.trees_gib) * base::gib;
    for (Attempt* attempt : choose_trees_to_remove(kept, max_bytes)) {
        if (more-- == 0) break;
        WHEELYARD_TRY(parts.still_ours());
        WHEELYARD_TRY(remove_tree(*attempt, parts, parts.folder_of(*attempt)));
    }
    return {};
}

}  // namespace wheelyard::builder
