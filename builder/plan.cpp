// Chooses a version for every cell, then its state by the strongest evidence: index, attempts, failures,
// source, siblings.
#include "builder/plan.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "builder/limits.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/specifier.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {
namespace {

using wheel::Version;

struct CellStateRow {
    CellState state;
    std::string_view text;
};
constexpr std::array<CellStateRow, 7> cell_states = {{{CellState::have, "have"},
                                                      {CellState::active, "active"},
                                                      {CellState::wanted, "wanted"},
                                                      {CellState::held, "held"},
                                                      {CellState::given_up, "given up"},
                                                      {CellState::impossible, "impossible"},
                                                      {CellState::unknown, "unknown"}}};

// A version chosen for a cell, or why there is none.
struct Choice {
    std::optional<Version> version;
    CellState state = CellState::wanted;
    std::string reason;
};

bool accepts_python(const std::string& requires_python, const Python& python) {
    if (requires_python.empty()) return true;
    const auto set = wheel::SpecifierSet::parse(requires_python);
    const auto version = Version::parse(python.full_version);
    return !set || !version ||
           set->contains(*version, wheel::Prereleases::allowed);  // unreadable: pip ignores it too
}

// The newest version in the set; pre-releases only when nothing else fits (PEP 440 "Handling of
// pre-releases").
std::optional<Version> newest(const std::vector<Version>& versions, const wheel::SpecifierSet& set) {
    for (const auto prereleases : {wheel::Prereleases::as_specified, wheel::Prereleases::allowed}) {
        std::optional<Version> best;
        for (const auto& version : versions) {
            if (set.contains(version, prereleases) && (!best || *best < version)) best = version;
        }
        if (best) return best;
    }
    return std::nullopt;
}

class Planner {
  public:
    Planner(const Site& site, const Recipes& recipes, const World& world)
        : site_(site), recipes_(recipes), world_(world) {}

    Plan plan() {
        if (!world_.journal_problems.empty()) {
            plan_.start_nothing =
                "the journal has a file that cannot be read: " + world_.journal_problems.front().text();
        }
        for (const auto& want : site_.wants) {
            const Recipe recipe = recipes_.of(want.package);
            for (const auto& version : want.versions) {
                for (const auto& python : want.pythons)
                    add(want, recipe, version, python);
            }
        }
        return std::move(plan_);
    }

  private:
    void add(const Want& want, const Recipe& recipe, const std::string& wanted,
             const std::string& python_name) {
        if (plan_.cells.size() >= most_cells) {
            plan_.start_nothing =
                "the site file asks for more than " + std::to_string(most_cells) + " wheels";
            return;
        }
        Cell cell;
        cell.package = want.package;
        cell.version = wanted;
        cell.python = python_name;
        cell.recipe = recipe.is_default() ? "default recipe" : recipe.file.string();
        cell.task = task_name(cell.package, wanted, python_name);
        const auto python = world_.pythons.find(python_name);
        if (python == world_.pythons.end() || !python->second) {
            cell.state = CellState::impossible;
            cell.reason = python == world_.pythons.end() ? "this Python was not looked at"
                                                         : python->second.error().text();
        } else {
            const Choice choice = choose(recipe, wanted, *python->second);
            cell.state = choice.state;
            cell.reason = choice.reason;
            if (choice.version) {
                cell.version = choice.version->text();
                cell.task = task_name(cell.package, cell.version, python->second->tag());
                judge(cell, *choice.version, recipe, *python->second);
            }
        }
        if (!seen_.insert(cell.task).second) return;  // "latest" beside the same version written out
        plan_.cells.push_back(std::move(cell));
    }

    [[nodiscard]] Choice choose(const Recipe& recipe, const std::string& wanted, const Python& python) const {
        if (const auto exact = Version::parse(wanted)) return {*exact, CellState::wanted, ""};
        const auto set = wheel::SpecifierSet::parse(wanted == "latest" ? "" : wanted);
        if (!set)
            return {std::nullopt, CellState::impossible,
                    "`" + wanted + "` is no version: " + set.error().sentence};
        std::vector<Version> versions;
        if (recipe.source == SourceKind::path) {
            return {std::nullopt, CellState::impossible,
                    "a path source has one version: write it into `versions`"};
        }
        if (recipe.source == SourceKind::tarball) {
            for (const auto& [text, digest] : recipe.sha256)
                versions.push_back(*Version::parse(text));
        } else {
            const auto offers = world_.offers.find(recipe.package);
            if (offers == world_.offers.end())
                return {std::nullopt, CellState::unknown, "the source index was not asked"};
            if (!offers->second) return {std::nullopt, CellState::unknown, offers->second.error().text()};
            for (const auto& offer : offers->second->sdists) {
                if (!offer.yanked && accepts_python(offer.requires_python, python))
                    versions.push_back(offer.version);
            }
        }
        auto best = newest(versions, *set);
        if (best) return {std::move(best), CellState::wanted, ""};
        return {
            std::nullopt, CellState::impossible,
            "no sdist of `" + recipe.package + "` fits `" + wanted + "` and Python " + python.full_version};
    }

    // State and reason of a cell whose version is known, the strongest evidence first.
    void judge(Cell& cell, const Version& version, const Recipe& recipe, const Python& python) const {
        const auto set = [&cell](CellState state, std::string reason) {
            cell.state = state;
            cell.reason = std::move(reason);
        };
        const auto published = world_.published.find(cell.package);
        const bool asked = published != world_.published.end() && published->second;
        if (asked && *published->second) {
            if (const auto* file = find_published(**published->second, version, python)) {
                return set(CellState::have, file->filename);
            }
        }
        const Attempt* last = nullptr;
        int failures = 0;
        for (const auto& attempt : world_.attempts) {
            if (attempt.task != cell.task || attempt.superseded) continue;
            // By number: the order of ids is that of clocks, and those of two login nodes differ.
            if (last == nullptr || attempt.number >= last->number) last = &attempt;
            if (attempt.state == State::failed) ++failures;
        }
        if (last != nullptr) cell.attempt = last->id;
        if (last != nullptr && !is_over(last->state)) {
            std::string reason(state_text(last->state));
            if (!last->waiting.reason.empty()) reason += ", waiting: " + last->waiting.reason;
            return set(CellState::active, reason);
        }
        if (!site_.registry && last != nullptr && last->state == State::done) {
            return set(CellState::have, last->wheel.filename + " in the work folder");
        }
        if (site_.registry && !asked) {
            return set(CellState::unknown, published == world_.published.end()
                                               ? "the registry was not asked"
                                               : published->second.error().text());
        }
        if (last != nullptr && last->state == State::done) {
            return set(CellState::given_up, "attempt " + last->id + " uploaded " + last->wheel.filename +
                                                ", and the index no longer has it; `retry` builds it anew");
        }
        judge_failures(cell, last, failures);
        if (cell.state == CellState::wanted) judge_source(cell, version, recipe, python);
        if (cell.state == CellState::wanted) judge_siblings(cell, asked ? &*published->second : nullptr);
    }

    void judge_failures(Cell& cell, const Attempt* last, int failures) const {
        cell.state = CellState::wanted;
        cell.reason = site_.registry ? "not in index `" + site_.registry->index + "`" : "not built yet";
        if (last == nullptr || !last->failure) return;
        const auto& failure = *last->failure;
        const std::string count =
            std::to_string(failures) + " of " + std::to_string(site_.most_attempts) + " attempts failed";
        const std::string why = failure.phase + ": " + failure.error.sentence +
                                (failure.first_error.empty() ? "" : " [" + failure.first_error + "]");
        if (!failure.try_again || failures >= site_.most_attempts) cell.state = CellState::given_up;
        cell.reason = (failure.try_again ? count + "; the last in " : "failed for good in ") + why;
    }

    void judge_source(Cell& cell, const Version& version, const Recipe& recipe, const Python& python) const {
        if (recipe.source != SourceKind::sdist) return;
        const auto offers = world_.offers.find(cell.package);
        if (offers == world_.offers.end()) return;
        if (!offers->second) {
            cell.state = CellState::unknown;
            cell.reason = offers->second.error().text();
            return;
        }
        const auto* offer = choose_sdist(offers->second->sdists, version, recipe.pinned_sha256(cell.version));
        if (offer == nullptr) {
            cell.state = CellState::impossible;
            cell.reason = "no sdist of this version in";
            for (const auto& place : offers->second->places)
                cell.reason += " " + place;
        } else if (!accepts_python(offer->requires_python, python)) {
            cell.state = CellState::impossible;
            cell.reason =
                "it requires Python " + offer->requires_python + ", and this is " + python.full_version;
        }
    }

    // A pure wheel serves every Python, and two builds of it would fight over one file name: until it is
    // known that this project builds per Python, its Pythons go one after another.
    void judge_siblings(Cell& cell, const std::optional<simple::ProjectPage>* page) const {
        if (page != nullptr && *page && builds_per_python(**page)) return;
        const auto hold = [&cell](const std::string& task) {
            cell.state = CellState::held;
            cell.reason = "after " + task + ": its wheel may serve this Python too";
        };
        for (const auto& attempt : world_.attempts) {
            if (attempt.task != cell.task && attempt.package == cell.package &&
                attempt.version == cell.version && !is_over(attempt.state)) {
                return hold(attempt.task);
            }
        }
        for (const auto& other : plan_.cells) {
            if (other.package == cell.package && other.version == cell.version &&
                other.state == CellState::wanted) {
                return hold(other.task);
            }
        }
    }

    static bool builds_per_python(const simple::ProjectPage& page) {
        return std::any_of(page.files.begin(), page.files.end(), [](const auto& file) {
            const auto name = wheel::parse_wheel_filename(file.filename);
            return name && std::all_of(name->abis.begin(), name->abis.end(),
                                       [](const auto& abi) { return abi != "none" && abi != "abi3"; });
        });
    }

    static const simple::FileLink* find_published(const simple::ProjectPage& page, const Version& version,
                                                  const Python& python) {
        for (const auto& file : page.files) {
            const auto name = wheel::parse_wheel_filename(file.filename);
            if (!name) continue;
            // A want without a local label is met by any label: "2.4.0" by "2.4.0+cu126".
            const bool same = version.has_local()
                                  ? name->version == version
                                  : name->version.compare_public(version) == std::strong_ordering::equal;
            if (same && wheel::best_position(name->tags, python.tags)) return &file;
        }
        return nullptr;
    }

    const Site& site_;
    const Recipes& recipes_;
    const World& world_;
    Plan plan_;
    std::set<std::string> seen_;
};

}  // namespace

std::string_view cell_state_text(CellState state) {
    for (const auto& row : cell_states) {
        if (row.state == state) return row.text;
    }
    return "?";
}

std::size_t Plan::count(CellState state) const {
    return static_cast<std::size_t>(
        std::count_if(cells.begin(), cells.end(), [state](const Cell& cell) { return cell.state == state; }));
}

Plan make_plan(const Site& site, const Recipes& recipes, const World& world) {
    return Planner(site, recipes, world).plan();
}

bool needs_offers(const Want& want, const Recipe& recipe, const World& world) {
    if (recipe.source != SourceKind::sdist) return false;
    for (const auto& text : want.versions) {
        const auto exact = Version::parse(text);
        if (!exact) return true;
        const auto page = world.published.find(want.package);
        const bool published =
            page != world.published.end() && page->second && *page->second &&
            std::any_of((*page->second)->files.begin(), (*page->second)->files.end(), [&](const auto& f) {
                const auto name = wheel::parse_wheel_filename(f.filename);
                return name && name->version.compare_public(*exact) == std::strong_ordering::equal;
            });
        const bool tried =
            std::any_of(world.attempts.begin(), world.attempts.end(), [&](const Attempt& attempt) {
                return attempt.package == want.package && attempt.version == exact->text();
            });
        if (!published && !tried) return true;
    }
    return false;
}

}  // namespace wheelyard::builder
