// Creates every cell of the matrix, then determines its state. The evidence in order of precedence: index,
// attempts, failures, source, the package that it is built against, siblings.
#include "builder/plan/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <set>

#include "builder/attempt/slots.hpp"
#include "builder/plan/offers.hpp"
#include "builder/plan/plan_history.hpp"
#include "builder/plan/version_choice.hpp"
#include "builder/site/script_setup.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/words.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace {

constexpr std::size_t max_cells = 10'000;  // in one plan
constexpr std::uint64_t max_build_number = 1'000'000'000'000'000'000;

using wheel::Version;

constexpr auto cell_states = base::words<CellState>({{CellState::have, "have"},
                                                     {CellState::active, "active"},
                                                     {CellState::wanted, "wanted"},
                                                     {CellState::held, "held"},
                                                     {CellState::given_up, "given up"},
                                                     {CellState::impossible, "impossible"},
                                                     {CellState::excluded, "excluded"},
                                                     {CellState::unknown, "unknown"}});

// A cell whose version is known, and the input for its state.
struct VersionedCell {
    Cell& cell;
    const Version& version;  // with its label
    const Recipe& recipe;
    const Python& python;

    void set(CellState state, std::string reason) const { cell.set(state, std::move(reason)); }
};

const ClosurePart* part_of(const std::optional<ClosureWant>& want) {
    return want && want->part ? &*want->part : nullptr;
}

// A want without a local label accepts any label: "2.4.0" accepts "2.4.0+cu126".
bool is_of(const wheel::WheelFilename& name, const Version& wanted) {
    return wanted.has_local() ? name.version == wanted
                              : name.version.compare_public(wanted) == std::strong_ordering::equal;
}

bool builds_for_kind(const Recipe& recipe, const Accelerator& accelerator) {
    return std::find(recipe.accelerators.begin(), recipe.accelerators.end(), accelerator.kind) !=
           recipe.accelerators.end();
}

class Planner {
  public:
    Planner(const Site& site, const Recipes& recipes, const World& world)
        : site_(site), recipes_(recipes), world_(world) {}

    Plan plan() {
        plan_.start_nothing = world_.submits_nothing;
        if (!world_.journal_problems.empty()) {
            plan_.start_nothing =
                "the journal has a file that cannot be read: " + world_.journal_problems.front().text();
        }
        // Packages that others are built against come first, independent of their position in the site file.
        for (const bool companions : {false, true}) {
            for (position_ = 0; position_ < site_.wants.size(); ++position_) {
                const Want& want = site_.wants[position_];
                const Recipe recipe = of_want(want, recipes_.of(want.package));
                if (recipe.against.empty() != companions) add_want(want, recipe);
            }
        }
        restore_order();
        judge_closures();
        plan_.held_queues = world_.held_queues;
        return std::move(plan_);
    }

  private:
    static Recipe of_want(const Want& want, Recipe recipe) {
        const ClosurePart* part = part_of(want.of_closure);
        return for_origin(std::move(recipe), part, want.uploaded.has_value(),
                          part == nullptr ? "" : want.versions.front());
    }

    void add_want(const Want& want, const Recipe& recipe) {
        for (const auto& version : want.versions) {
            for (const auto& python : want.pythons) {
                for (const auto& accelerator : accelerators_for(site_, want, recipe))
                    add(want, recipe, version, python, accelerator);
            }
        }
    }

    void restore_order() {
        std::vector<std::size_t> order(plan_.cells.size());
        for (std::size_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::stable_sort(order.begin(), order.end(),
                         [this](std::size_t a, std::size_t b) { return positions_[a] < positions_[b]; });
        std::vector<Cell> cells;
        for (const std::size_t at : order)
            cells.push_back(std::move(plan_.cells[at]));
        plan_.cells = std::move(cells);
    }

    // `of`: the cell that it follows; nullptr: it is wanted by itself.
    void add(const Want& want, const Recipe& general, const std::string& wanted,
             const std::string& python_name, const std::string& accelerator, const Cell* of = nullptr) {
        if (plan_.cells.size() >= max_cells) {
            plan_.start_nothing = "the site file requests more than " + std::to_string(max_cells) + " wheels";
            return;
        }
        Cell cell;
        cell.package = want.package;
        cell.version = wanted;
        cell.python = python_name;
        cell.accelerator = accelerator;
        cell.for_task = want.for_task;
        cell.uploaded = want.uploaded;
        cell.recipe = recipe_text(general);
        cell.of_closure = want.of_closure;
        cell.name =
            cell_name(cell.package, wanted, python_name) + (accelerator.empty() ? "" : "-" + accelerator);
        std::optional<Version> chosen;
        const auto python = world_.pythons.find(python_name);
        if (python == world_.pythons.end() || !python->second) {
            cell.set(CellState::impossible, python == world_.pythons.end()
                                                ? "the site has no Python of this version"
                                                : python->second.error().text());
        } else if (!builds_for(general, accelerator)) {
            cell.set(CellState::impossible, "the recipe builds for " +
                                                base::join(general.accelerators, ", ") + ", not for `" +
                                                accelerator + "`");
        } else if (want.of_closure && want.of_closure->is_unresolved) {
            const std::string& problem = want.of_closure->problem;
            cell.set(problem.empty() ? CellState::held : CellState::given_up,
                     problem.empty() ? "what it needs is not resolved yet: the next `tick` or `run` does"
                                     : problem);
        } else {
            const auto of_version = [&](const Version& version) { return recipe_of(cell, version.text()); };
            const ChoiceInput input{site_, want, general, of_version, world_, *python->second, accelerator};
            const Choice choice = choose_version(input, wanted);
            cell.set(choice.state, choice.reason);
            if (choice.version) chosen = name_version(cell, *choice.version, *python->second);
            if (chosen) judge_with_objections(cell, input, *chosen);
        }
        if (!seen_.insert(cell.name)
                 .second) {  // "latest" and the same version in full, or a companion of two
            if (of != nullptr && chosen) share(cell, *chosen, *of);
            const auto there = std::find_if(plan_.cells.begin(), plan_.cells.end(),
                                            [&](const Cell& other) { return other.name == cell.name; });
            if (there != plan_.cells.end()) there->for_task = there->for_task && cell.for_task;
            return;
        }
        plan_.cells.push_back(cell);
        positions_.push_back(position_);
        if (!chosen || cell.state == CellState::excluded) return;
        for (const auto& follow_up : want.follow_ups)
            add_companion(want, follow_up, *chosen, cell);
    }

    [[nodiscard]] bool builds_for(const Recipe& recipe, const std::string& accelerator) const {
        if (recipe.accelerators.empty()) return true;
        const Accelerator* there = site_.accelerator(accelerator);
        return there != nullptr && builds_for_kind(recipe, *there);
    }

    [[nodiscard]] Recipe recipe_of(const Cell& cell, const std::string& version) const {
        return for_origin(recipe_for(site_, recipes_, cell.package, version, cell.accelerator),
                          part_of(cell.of_closure), cell.uploaded.has_value(), version);
    }

    // Adds the label to the version, and sets version and name of the cell.
    Version name_version(Cell& cell, const Version& version, const Python& python) const {
        Version named = version;
        const Accelerator* accelerator = site_.accelerator(cell.accelerator);
        // The site's label marks what is built here; an upstream's wheel keeps the upstream's version.
        const Recipe of_version = recipe_of(cell, version.text());
        std::string label = of_version.upstream_label;
        if (of_version.labelled && of_version.source != SourceKind::upstream)
            label = accelerator == nullptr ? site_.label : accelerator->label;
        if (!label.empty() && !version.has_local()) named = *Version::parse(version.text() + "+" + label);
        cell.version = named.text();
        cell.name = cell_name(cell.package, cell.version, python.tag());
        return named;
    }

    void judge_with_objections(Cell& cell, const ChoiceInput& input, const Version& version) {
        if (const auto objection = find_objection(input, version))
            return cell.set(objection->state, objection->reason);
        const Recipe recipe = recipe_of(cell, cell.version);
        const VersionedCell it{cell, version, recipe, input.python};
        PairInput pairs = pairs_of(it);
        judge(it);
        pairs.against = cell.against;
        cell.limits = cite_limits(pairs);
        if (recipe.source == SourceKind::upstream) return;
        const bool is_open = cell.state == CellState::wanted || cell.state == CellState::held;
        if (GpuFit gpus = fit_gpus(pairs); is_open && !gpus.refusals.empty()) {
            if (gpus.fitting.empty()) return it.set(CellState::impossible, std::move(gpus.refusals));
            cell.reason += "; for " + base::join(gpus.fitting, ", ") +
                           " alone, so an index that asks for all refuses it: " + gpus.refusals;
        }
        for (auto& bound : cite_bounds(pairs))
            cell.bounds.push_back(std::move(bound));
    }

    [[nodiscard]] PairInput pairs_of(const VersionedCell& it) const {
        return {site_, it.recipe, it.version, it.python, it.cell.accelerator};
    }

    // Adds a companion of one cell: the version that its recipe names for it, with the same Python and
    // accelerator.
    void add_companion(const Want& want, const std::string& package, const Version& version, const Cell& of) {
        const Recipe recipe = recipes_.of(package);
        Want companion{package, {}, want.pythons};
        const auto own = recipe.against == want.package ? companion_of(recipe, version) : std::nullopt;
        if (own)
            return add(companion, recipe, own->text(), of.python,
                       recipe.accelerators.empty() ? "" : of.accelerator, &of);
        Cell cell;
        cell.package = package;
        cell.version = "?";
        cell.python = of.python;
        cell.accelerator = of.accelerator;
        cell.recipe = recipe_text(recipe);
        cell.name = package + "-for-" + of.name;
        cell.set(CellState::impossible,
                 recipe.against == want.package
                     ? "its recipe names no version for " + want.package + " " + version.public_text() +
                           ": add it under [against.versions]"
                     : "it is not built against " + want.package + ": make it a [[want]] of its own");
        if (!seen_.insert(cell.name).second) return;
        plan_.cells.push_back(std::move(cell));
        positions_.push_back(position_);
    }

    [[nodiscard]] static bool is_never(const Cell& cell) {
        return cell.state == CellState::impossible || cell.state == CellState::excluded;
    }

    // A second version of a package has a companion that the plan has already. Its wheel serves both if it is
    // not pinned to one; else a row says why the second has none.
    void share(const Cell& again, const Version& version, const Cell& of) {
        const auto there = std::find_if(plan_.cells.begin(), plan_.cells.end(),
                                        [&](const Cell& cell) { return cell.name == again.name; });
        if (is_never(*there) && !is_never(again)) {  // the first version cannot be had, and this one can
            *there = again;
            return;
        }
        if (is_never(of)) return;
        const auto against = exact_version(there->against);
        const auto second = Version::parse(of.version);
        if (!against || !second || against->second == *second) return;
        const Recipe recipe = recipe_of(again, again.version);
        const bool is_stable = recipe.stable_abi.count(version.public_text()) != 0;
        if (recipe.source == SourceKind::upstream || (is_stable && against->second < *second)) {
            there->also_for.push_back(of.name);
            return;
        }
        Cell row = again;
        row.against.clear();
        row.name += "-for-" + of.name;
        row.set(CellState::impossible,
                is_stable
                    ? "it is built against " + there->against + " and works with that and newer ones: name " +
                          of.package + " " + second->public_text() + " first"
                    : "it is pinned to " + there->against +
                          ", and there is one wheel of this name: want one of the two");
        if (!seen_.insert(row.name).second) return;
        plan_.cells.push_back(std::move(row));
        positions_.push_back(position_);
    }

    // A release of a closure is built once the index has what it needs, and from that alone.
    void judge_closures() {
        std::set<const Cell*> seen;
        for (Cell& cell : plan_.cells)
            judge_closure(cell, seen);
        for (Cell& cell : plan_.cells) {
            if (cell.wheel && is_unexplained(cell, *cell.wheel))
                cell.reason += "; made elsewhere: it has no provenance";
            if (cell.of_closure) add_origin(cell);
        }
    }

    // Who needs the release, and, while the index lacks it, whether it is built or taken.
    static void add_origin(Cell& cell) {
        const ClosureWant& release = *cell.of_closure;
        const auto add = [&cell](const std::string& text) {
            cell.reason += (cell.reason.empty() || text.empty() ? "" : "; ") + text;
        };
        add(release.why);
        const bool is_open = cell.state != CellState::have && !is_never(cell) && !release.is_unresolved;
        if (is_open && !release.is_upstreams_wheel)
            add(release.part && release.part->is_taken ? "its pure wheel is taken" : "it is built here");
    }

    void judge_closure(Cell& cell, std::set<const Cell*>& seen) {
        if (!cell.of_closure || cell.state != CellState::wanted || !seen.insert(&cell).second) return;
        if (!cell.of_closure->problem.empty())
            return cell.set(CellState::impossible, cell.of_closure->problem);
        bool is_final = false;  // what is missing does not come by itself
        for (const ClosureNeed& need : cell.of_closure->after) {
            const auto at =
                find_release(plan_.cells, need.package, need.version, cell.python, cell.accelerator);
            Cell* other = at ? &plan_.cells[*at] : nullptr;
            if (other != nullptr) judge_closure(*other, seen);
            if (other != nullptr && other->state == CellState::have && other->wheel) {
                if (cell.of_closure->part && need.to_build) add_to_lock(*other, *cell.of_closure->part);
                continue;
            }
            if (is_final) continue;
            is_final = other == nullptr || is_never(*other) || other->state == CellState::given_up ||
                       other->awaits_others;
            if (is_final || cell.state == CellState::wanted) wait_for(cell, need, other, is_final);
        }
    }

    static void wait_for(Cell& cell, const ClosureNeed& need, const Cell* other, bool is_final) {
        cell.set(other == nullptr || is_never(*other) ? CellState::impossible : CellState::held,
                 "waits for " + need.package + " " + need.version + ", needed to " +
                     (need.to_build ? "build" : "run"));
        cell.awaits_others = cell.state == CellState::held && is_final;
        if (other == nullptr) {
            cell.reason += ": no row of the plan";
            return;
        }
        const bool is_waiting = other->state == CellState::held || !is_final;
        cell.reason +=
            ": " + (is_waiting ? "" : std::string(cell_state_text(other->state)) + ", ") + other->reason;
        if (!is_waiting && !other->remedy.empty()) cell.reason += ". " + other->remedy;
    }

    // By the hash of the file: other builds of the version have other bytes.
    static void add_to_lock(const Cell& other, ClosurePart& part) {
        part.lock.emplace_back(other.wheel->filename, "sha256:" + other.wheel->sha256);
        if (is_unexplained(other, *other.wheel) || (other.of_closure && other.of_closure->is_upstreams_wheel))
            part.strangers.push_back(other.wheel->filename);
    }

    // Sets state and reason of a cell whose version is known, in the order of precedence.
    void judge(const VersionedCell& it) const {
        Cell& cell = it.cell;
        const Cell* other = it.recipe.against.empty() ? nullptr : find_against(it);
        if (other != nullptr) cell.against = it.recipe.against + "==" + other->version;
        const auto published = world_.published.find(cell.package);
        const std::optional<simple::ProjectPage>* page =  // nullptr: the registry gave no answer
            published != world_.published.end() && published->second ? &*published->second : nullptr;
        const CellHistory history = history_of(cell.name, world_.attempts);
        const Attempt* last = history.last;
        if (last != nullptr) cell.build = last->asked.build;
        if (page != nullptr && *page) {
            if (const auto* file = find_published(**page, it, true)) {
                cell.wheel = *file;
                return judge_had(cell, history);
            }
        }
        if (judge_active(cell, history)) return;
        if (is_in_other_index(last)) {
            return it.set(CellState::have, last->wheel.filename + " in index `" + last->wheel.index + "`");
        }
        if (!site_.registry && last != nullptr && last->state == State::done) {
            return it.set(CellState::have,
                          last->wheel.filename + " in the work folder" + notice_of(last->wheel.filename));
        }
        if (const auto* misfit = page != nullptr && *page ? find_published(**page, it, false) : nullptr) {
            return it.set(CellState::impossible, misfit->filename + " in index `" + site_.registry->index +
                                                     "` requires Python " + misfit->requires_python +
                                                     ", and this is " + it.python.full_version);
        }
        if (site_.registry && page == nullptr) {
            return it.set(CellState::unknown, published == world_.published.end()
                                                  ? "the registry was not queried"
                                                  : published->second.error().text());
        }
        if (last != nullptr && last->state == State::done) {
            return it.set(CellState::given_up, "attempt " + last->id + " uploaded " + last->wheel.filename +
                                                   ", and the index no longer has it; `" +
                                                   pasted_command("retry", cell.name, site_) +
                                                   "` builds it again" + of_another_store());
        }
        const std::string why =
            site_.registry ? "not in index `" + site_.registry->index + "`" : std::string("not built yet");
        judge_failures(cell, history, site_, why, world_.now);
        if (cell.state == CellState::wanted) judge_pairs(it);
        if (cell.state == CellState::wanted) judge_upload(cell);
        if (cell.state == CellState::wanted) judge_source(it);
        if (cell.state == CellState::wanted) judge_needs(it);
        if (cell.state == CellState::wanted && !it.recipe.against.empty()) judge_against(it, other);
        if (cell.state == CellState::wanted) judge_siblings(cell, page);
    }

    // The index has it, and a person may have asked for another build of it. One that failed for good leaves
    // the cell as it was.
    void judge_had(Cell& cell, const CellHistory& history) const {
        std::string failed;
        if (cell.build > 0 && history.last->state != State::done) {
            if (judge_active(cell, history)) return;
            judge_failures(cell, history, site_, "", world_.now);
            if (cell.state == CellState::wanted) judge_upload(cell);
            if (cell.state != CellState::given_up) return;
            failed = "; build " + std::to_string(cell.build) + " of it: " + cell.reason;
            cell.needs_person = cell.has_failed = false;
        }
        const std::string& filename = cell.wheel->filename;
        cell.set(CellState::have, filename + notice_of(filename) + failed);
    }

    // What the attempt that made the wheel knows of it.
    [[nodiscard]] std::string notice_of(const std::string& filename) const {
        const auto made = std::find_if(
            world_.attempts.rbegin(), world_.attempts.rend(),
            [&](const Attempt& one) { return one.state == State::done && one.wheel.filename == filename; });
        const bool has_one = made != world_.attempts.rend() && !made->wheel.notice.empty();
        return has_one ? ", " + made->wheel.notice : "";
    }

    [[nodiscard]] std::string of_another_store() const {
        if (world_.is_other_store)
            return "; the registry has another store than the one that took this agent's wheels: for a new "
                   "registry, name a new folder in [state], else correct `url` in [registry]";
        if (!uploaded_wheels(world_, site_).has_lost_all()) return "";
        return "; it has no wheel that this agent uploaded: for another registry, or a new one, name a new "
               "folder "
               "in [state]";
    }

    // Says whether the wheel was uploaded to another index, for example a staging index, for a task of the
    // registry. From there on another identity is responsible for it.
    [[nodiscard]] bool is_in_other_index(const Attempt* last) const {
        return site_.registry && last != nullptr && last->state == State::done &&
               !last->wheel.index.empty() && last->wheel.index != site_.registry->index;
    }

    void judge_needs(const VersionedCell& it) const {
        if (it.recipe.source == SourceKind::upstream) return;
        const auto unnamed = find_unnamed(pairs_of(it), world_.programs);
        if (unnamed) it.set(CellState::impossible, *unnamed);
    }

    // Says whether versions go together that no row names, a person has to decide.
    void judge_pairs(const VersionedCell& it) const {
        if (site_.build_unknown) return;
        const auto unknown = find_unknown(pairs_of(it));
        if (!unknown) return;
        it.set(CellState::unknown, unknown->reason + "; `build_unknown = true` of site.toml builds it");
        it.cell.bounds.push_back("nearest row: " + unknown->nearest);
        it.cell.awaits_others = true;
    }

    // A wheel that cannot be uploaded is not built.
    void judge_upload(Cell& cell) const {
        const auto refused = world_.refused_uploads.find(cell.package);
        if (refused == world_.refused_uploads.end()) return;
        cell.set(CellState::held, refused->second.text());
        cell.awaits_others = true;
    }

    void judge_source(const VersionedCell& it) const {
        if (it.cell.uploaded) {
            if (world_.no_uploaded_sources)
                return it.set(CellState::impossible, world_.no_uploaded_sources->text());
            const std::string pinned = it.recipe.pinned_sha256(it.version.public_text());
            if (!pinned.empty() && pinned != it.cell.uploaded->sha256)
                it.set(CellState::impossible, "the recipe pins another source: sha256 " + pinned);
            return;
        }
        if (it.recipe.is_default() && it.recipe.source == SourceKind::sdist) {
            if (const auto why = why_stub(it.recipe.package); !why.empty())
                return it.set(CellState::impossible, why + "; a recipe of its own builds another index's");
        }
        // Offers are of the recipe without a version; an [[override]] may name another source.
        const auto source = it.recipe.source;
        const bool is_asked = source == SourceKind::sdist || source == SourceKind::upstream;
        if (!is_asked || recipes_.of(it.cell.package).source != source) return;
        const auto offers = world_.offers.find(it.cell.package);
        if (offers == world_.offers.end()) return;
        if (!offers->second) return it.set(CellState::unknown, offers->second.error().text());
        if (source == SourceKind::upstream) return judge_wheel(it, *offers->second);
        const std::string exact = it.recipe.labelled ? it.version.public_text() : it.version.text();
        const auto* offer =
            choose_sdist(offers->second->sdists, *Version::parse(exact), it.recipe.pinned_sha256(exact));
        if (offer == nullptr && offers->second->unanswered)
            return it.set(CellState::unknown, offers->second->unanswered->text());
        if (offer == nullptr)
            return it.set(CellState::impossible, why_no_sdist(it.recipe.package, *offers->second, exact) +
                                                     wheel_instead(*offers->second, exact, it.python));
        if (!accepts_python(offer->requires_python, it.python)) {
            it.set(CellState::impossible, "it requires Python " + offer->requires_python + ", and this is " +
                                              it.python.full_version +
                                              wheel_instead(*offers->second, exact, it.python));
        }
    }

    // It is taken and not built: the wheel is there now, or not.
    static void judge_wheel(const VersionedCell& it, const SdistOffers& offers) {
        const SdistOffer* wheel = choose_wheel(offers, it.version, it.python);
        if (wheel == nullptr && offers.unanswered)
            return it.set(CellState::unknown, offers.unanswered->text());
        if (wheel == nullptr)
            return it.set(CellState::impossible,
                          why_no_wheel(it.recipe.package, offers, it.version.text(), it.python));
        it.cell.reason += "; takes upstream's " + wheel->filename + " of " + wheel->place +
                          ", which fits Python " + it.python.full_version +
                          (it.recipe.upstream_why.empty() ? "" : ": " + it.recipe.upstream_why);
    }

    // The site's cell of the package that this one is built against: the newest version that the recipe
    // names. One whose newest companion is another serves only where no other does: somebody wants an older
    // companion by its version.
    [[nodiscard]] const Cell* find_against(const VersionedCell& it) const {
        const Cell* best = find_against(it, false);
        return best != nullptr ? best : find_against(it, true);
    }
    [[nodiscard]] const Cell* find_against(const VersionedCell& it, bool has_newer) const {
        const Cell* best = nullptr;
        for (const auto& other : plan_.cells) {
            const auto version = Version::parse(other.version);
            if (other.package != it.recipe.against || other.python != it.cell.python || !version) continue;
            if (!it.cell.accelerator.empty() && other.accelerator != it.cell.accelerator) continue;
            const auto own = companions_of(it.recipe, *version);
            const auto is_it = [&](const Version& one) {
                return one.compare_public(it.version) == std::strong_ordering::equal;
            };
            const bool fits = has_newer ? std::any_of(own.begin(), own.end(), is_it)
                                        : !own.empty() && is_it(*std::max_element(own.begin(), own.end()));
            if (!fits) continue;
            // What works with newer ones, too, is built against the oldest.
            const bool oldest = it.recipe.stable_abi.count(it.version.public_text()) != 0;
            const auto of_best = best == nullptr ? version : Version::parse(best->version);
            const bool precedes = best == nullptr || (oldest ? *version < *of_best : *of_best < *version);
            const bool is_same_kind = best == nullptr || is_never(*best) == is_never(other);
            if (is_same_kind ? precedes : is_never(*best)) best = &other;
        }
        return best;
    }

    // "==2.4.0", by the version pairs or the recipe; of a version that neither names, words that say so.
    [[nodiscard]] static std::string allowed_of(const VersionedCell& it) {
        for (const auto& [own, allowed] : it.recipe.against_versions) {
            const auto version = Version::parse(own);
            if (version && version->compare_public(it.version) == std::strong_ordering::equal) return allowed;
        }
        return " that a version pair, or [against.versions] of its recipe, names for it";
    }

    void judge_against(const VersionedCell& it, const Cell* other) const {
        if (other == nullptr) {
            return it.set(CellState::impossible, "the site file wants no " + it.recipe.against +
                                                     allowed_of(it) + " for this Python and accelerator");
        }
        const bool is_had = other->state == CellState::have;
        const bool is_out_of_reach =
            is_had && site_.registry && !other->wheel;  // the build does not search other indexes
        if (is_had && !is_out_of_reach) return;
        const bool never = is_never(*other);
        std::string how(cell_state_text(other->state));
        if (is_out_of_reach) how = other->reason + ": not before it is promoted";
        if (other->state == CellState::given_up) how += ": not before `retry`";
        it.set(never ? CellState::impossible : CellState::held,
               (never ? "without " : "after ") + other->name + ", which it is built against (" + how + ")");
        it.cell.awaits_others =
            is_out_of_reach || other->state == CellState::given_up || other->awaits_others;
    }

    // A pure wheel serves every Python, so two builds of it would produce the same file name. Until a
    // published wheel shows that the project builds one wheel for each Python, its Pythons are built one
    // after another. With a compiler cache they always are: the second finds most of its compiles there.
    void judge_siblings(Cell& cell, const std::optional<simple::ProjectPage>* page) const {
        const bool is_per_python = page != nullptr && *page && builds_per_python(**page);
        if (is_per_python && site_.compiler_cache_gib == 0) return;
        const auto hold = [&cell, is_per_python](const std::string& other) {
            cell.set(CellState::held,
                     "after " + other +
                         (is_per_python ? ": most of its compiles are then in the compiler cache"
                                        : ": its wheel may serve this Python too"));
        };
        for (const auto& attempt : world_.attempts) {
            if (attempt.asked.purpose == Purpose::build && attempt.asked.cell != cell.name &&
                attempt.asked.package == cell.package && attempt.asked.version == cell.version &&
                !is_over(attempt.state)) {
                return hold(attempt.asked.cell);
            }
        }
        for (const auto& other : plan_.cells) {
            if (other.package == cell.package && other.version == cell.version &&
                other.state == CellState::wanted) {
                return hold(other.name);
            }
        }
    }

    static bool builds_per_python(const simple::ProjectPage& page) {
        return std::any_of(page.files.begin(), page.files.end(), [](const auto& file) {
            const auto name = wheel::parse_wheel_filename(file.filename);
            return name && std::all_of(name->abis.begin(), name->abis.end(), [](const auto& abi) {
                       return abi != "none" && abi != "abi3" && abi != "abi3t";
                   });
        });
    }

    // A wheel of a release that the closure builds, which does not say how it was made: as those of an
    // upstream in a mirror.
    static bool is_unexplained(const Cell& cell, const simple::FileLink& file) {
        const ClosurePart* part = part_of(cell.of_closure);
        return part != nullptr && !part->is_taken && file.provenance_sha256.empty();
    }

    static bool is_pure(const wheel::WheelFilename& name) {
        return name.platforms == std::vector<std::string>{"any"};
    }

    // A pure wheel of ours would have the name of a pure one that is there, and the index gives it to one
    // file. Of a release with platform wheels a build makes such a one, which has another name.
    static bool has_pure_builds(const simple::ProjectPage& page, const Version& version) {
        return std::all_of(page.files.begin(), page.files.end(), [&version](const auto& file) {
            const auto name = wheel::parse_wheel_filename(file.filename);
            return !name || is_pure(*name) ||
                   name->version.compare_public(version) != std::strong_ordering::equal;
        });
    }

    // With `is_accepted`: the wheel that pip takes for the cell; else one that only its Requires-Python keeps
    // from it.
    static const simple::FileLink* find_published(const simple::ProjectPage& page, const VersionedCell& it,
                                                  bool is_accepted) {
        const simple::FileLink* best = nullptr;
        std::optional<wheel::WheelFilename> of_best;
        const auto precedes = [&](const simple::FileLink& file, const wheel::WheelFilename& name) {
            if (best == nullptr || best->yanked != file.yanked) return best == nullptr || best->yanked;
            if (name.version != of_best->version) return of_best->version < name.version;
            const auto there = wheel::best_position(of_best->tags, it.python.tags);
            const auto here = wheel::best_position(name.tags, it.python.tags);
            return here == there ? of_best->build < name.build : *here < *there;
        };
        for (const auto& file : page.files) {
            if (accepts_python(file.requires_python, it.python) != is_accepted) continue;
            const auto name = wheel::parse_wheel_filename(file.filename);
            if (!name || name->variant) continue;  // pip takes no variant wheel (PEP 825)
            if (is_unexplained(it.cell, file) && !(is_pure(*name) && has_pure_builds(page, it.version)))
                continue;
            if (!is_of(*name, it.version) || !wheel::best_position(name->tags, it.python.tags)) continue;
            if (!precedes(file, *name)) continue;
            best = &file;
            of_best = *name;
        }
        return best;
    }

    const Site& site_;
    const Recipes& recipes_;
    const World& world_;
    Plan plan_;
    std::size_t position_ = 0;            // of the current want, in the site file
    std::vector<std::size_t> positions_;  // for each cell, the position of its want
    std::set<std::string> seen_;
};

}  // namespace

std::vector<std::string> accelerators_for(const Site& site, const Want& want, const Recipe& recipe) {
    if (recipe.accelerators.empty()) return {""};
    std::vector<std::string> names = want.accelerators;
    for (const auto& accelerator : site.accelerators) {
        if (want.accelerators.empty() && builds_for_kind(recipe, accelerator))
            names.push_back(accelerator.name);
    }
    if (names.empty())
        names.push_back(site.accelerators.front().name);  // add() gives the reason why it is impossible
    return names;
}

std::optional<std::size_t> find_release(const std::vector<Cell>& cells, const std::string& package,
                                        const std::string& version, const std::string& python,
                                        const std::string& accelerator) {
    const auto wanted = Version::parse(version);
    std::optional<std::size_t> found;
    for (std::size_t at = 0; at < cells.size() && wanted; ++at) {
        const Cell& cell = cells[at];
        if (cell.package != package || cell.python != python) continue;
        const auto its = Version::parse(cell.version);
        if (!its || its->compare_public(*wanted) != std::strong_ordering::equal) continue;
        if (!found || cell.accelerator == accelerator) found = at;
    }
    return found;
}

base::Result<std::uint64_t> next_build(const Cell& cell, const World& world) {
    std::uint64_t highest = 0;
    for (const Attempt& attempt : world.attempts) {
        if (attempt.asked.package == cell.package && attempt.asked.version == cell.version &&
            (attempt.state == State::done || !is_over(attempt.state)))
            highest = std::max(highest, attempt.asked.build);
    }
    const auto page = world.published.find(cell.package);
    const auto version = Version::parse(cell.version);
    if (!version || page == world.published.end() || !page->second || !*page->second) return highest + 1;
    for (const auto& file : (*page->second)->files) {
        const auto name = wheel::parse_wheel_filename(file.filename);
        if (!name || !name->build || !is_of(*name, *version)) continue;
        const auto number = base::parse_decimal(name->build->number.text());
        if (!number || *number > max_build_number)
            return base::fail("rebuild.build_tag", "No build tag of ours is above that of this wheel",
                              file.filename, "yank it, or build another version");
        highest = std::max(highest, *number);
    }
    return highest + 1;
}

std::string recipe_text(const Recipe& recipe) {
    if (!recipe.is_default()) return recipe.file.string();
    return recipe.source == SourceKind::upstream ? "no recipe: upstream's wheel" : "default recipe";
}

std::string_view cell_state_text(CellState state) {
    return cell_states.text(state);
}

std::string_view torch_abi_text(TorchAbi state) {
    static constexpr auto words = base::words<TorchAbi>(
        {{TorchAbi::kept, "kept"}, {TorchAbi::unproven, "unproven"}, {TorchAbi::rebuild, "rebuild"}});
    return words.text(state);
}

std::string verdict_text(const TorchVerdict& verdict) {
    return std::string(torch_abi_text(verdict.state)) + ": " + verdict.reason;
}

std::size_t Plan::count(CellState state) const {
    return static_cast<std::size_t>(
        std::count_if(cells.begin(), cells.end(), [state](const Cell& cell) { return cell.state == state; }));
}

const Cell* Plan::find(const std::string& name) const {
    const auto found =
        std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) { return cell.name == name; });
    return found == cells.end() ? nullptr : &*found;
}

Plan make_plan(const Site& site, const Recipes& recipes, const World& world) {
    Plan plan = Planner(site, recipes, world).plan();
    plan.cells = with_tests_and_promotions(std::move(plan.cells), {site, recipes, world});
    plan.cells = with_reproductions(std::move(plan.cells), {site, recipes, world});
    const std::string why = why_none_begins(world.attempts);
    for (Cell& cell : plan.cells) {
        if (cell.state == CellState::wanted && cell.purpose != Purpose::promotion && !why.empty())
            cell.reason += (cell.reason.empty() ? "" : "; ") + why;
    }
    return plan;
}

}  // namespace wheelyard::builder
