// The plan: the state of every cell of the site's matrix, and the reason. Pure: all information is in the
// arguments.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/attempt/held_queues.hpp"
#include "builder/plan/offers.hpp"
#include "builder/site/python.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"
#include "lib/base/result.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::builder {

enum class CellState {
    have,        // the wheel exists: in the site's index, that of a registry's task, or the work folder
    active,      // an attempt is in progress
    wanted,      // to be built next
    held,        // wanted, but blocked for the given reason
    given_up,    // failed; a person must act
    impossible,  // cannot be built as the site file requests
    excluded,    // excluded by the site file
    unknown,     // a required source of information does not answer
};
[[nodiscard]] std::string_view cell_state_text(CellState state);

// Says whether a companion that the index has can stay with the wanted torch (torch_abi.hpp).
enum class TorchAbi {
    kept,
    unproven,  // nothing that is known speaks against it
    rebuild,
};
struct TorchVerdict {
    TorchAbi state;
    std::string reason;
};
[[nodiscard]] std::string_view torch_abi_text(TorchAbi state);
[[nodiscard]] std::string verdict_text(const TorchVerdict& verdict);  // "kept: uses only torch's stable ABI"

struct Cell {
    std::string name;
    std::string package;
    std::string version;  // as in the site file if it could not be resolved
    std::string python;
    std::string accelerator;  // name in the site file; empty: one wheel for all accelerators
    std::string against;  // "torch==2.4.0+cu123": the package in the same index to build against, or empty
    std::uint64_t build = 0;  // Asked::build of its next attempt
    CellState state = CellState::unknown;
    std::string reason;
    std::string attempt;                   // the latest one, or empty
    std::string recipe;                    // recipe_text()
    std::vector<std::string> bounds = {};  // "cmake<4 by versions.toml:12:1"
    std::vector<std::string> limits = {};  // cite_limits()
    // Other cells of the package that it is built against which it serves, too: "torch-2.12.0-cp312".
    std::vector<std::string> also_for = {};
    Purpose purpose = Purpose::build;
    std::optional<simple::FileLink> wheel = {};  // the index's wheel for this cell
    std::vector<std::string> with = {};  // of a promotion: the other wheels of its set, in the same request
    bool for_task = false;               // wanted by tasks of a registry alone: the upload names the task
    std::optional<wire::UploadedSource> uploaded = {};  // of a registry's task: its source
    // Given up because no rule of the doctor knows the failure and it would come back: `reason` says what to
    // decide.
    bool needs_person = false;
    // Given up because its attempts failed: `retry` begins another.
    bool has_failed = false;
    // Held until a person or a registry acts: no tick of this agent can change that.
    bool awaits_others = false;
    std::string remedy = {};  // of the doctor, for the last failure: what waits for this cell shows it
    std::optional<TorchVerdict> torch_abi = {};  // nullopt: not asked, or nothing is known
    std::optional<ClosureWant> of_closure = {};  // of a release of a closure; once wanted, with its lock

    void set(CellState to, std::string why) {
        state = to;
        reason = std::move(why);
    }
};
// Its file, "default recipe", or "no recipe: upstream's wheel".
[[nodiscard]] std::string recipe_text(const Recipe& recipe);

struct Plan {
    std::vector<Cell> cells;                  // in the order of the site file
    std::string start_nothing;                // why no new attempt may start, or empty
    std::vector<HeldQueue> held_queues = {};  // that refuse jobs for now
    [[nodiscard]] std::size_t count(CellState state) const;
    [[nodiscard]] const Cell* find(const std::string& name) const;  // nullptr: no such cell
};

// The accelerators that a want's wheels are built for; the empty name: one wheel for all.
[[nodiscard]] std::vector<std::string> accelerators_for(const Site& site, const Want& want,
                                                        const Recipe& recipe);
// Where `cells` has this release for a Python, preferably for this accelerator: a label of the version does
// not count.
[[nodiscard]] std::optional<std::size_t> find_release(const std::vector<Cell>& cells,
                                                      const std::string& package, const std::string& version,
                                                      const std::string& python,
                                                      const std::string& accelerator = "");

using Pythons = std::map<std::string, base::Result<Python>>;
using Pages = std::map<std::string, base::Result<std::optional<simple::ProjectPage>>>;
using Offers = std::map<std::string, base::Result<SdistOffers>>;

// The input of the plan. A project that is missing from `offers` was not queried.
struct World {
    base::UnixMicros now = 0;  // 0: not known, and nothing waits for a time
    Pythons pythons;           // by the site's version names
    Pages published;           // in the site's index; empty without a registry
    Pages promoted;            // in the index for everybody; empty if there is none
    Offers offers;             // sdists to build from
    std::map<std::string, base::Error> refused_uploads = {};  // packages that the registry would not accept
    bool is_other_store = false;  // the registry has another store than the one that the journal knows
    std::optional<base::Error> no_uploaded_sources = {};  // why this agent builds none
    std::set<std::string> programs = {};  // of those that recipes' builds need, the ones on the agent's PATH
    std::vector<Attempt> attempts;
    std::vector<base::Error> journal_problems;
    std::vector<HeldQueue> held_queues = {};
    std::string submits_nothing = {};  // why no job begins for now; empty: jobs may
};

[[nodiscard]] Plan make_plan(const Site& site, const Recipes& recipes, const World& world);

// One above the highest build tag that the index, or an upload of this agent, has of the cell's version: of two
// wheels with the same tags pip takes the one with the higher (PEP 427). Error "rebuild.build_tag": no number
// follows.
[[nodiscard]] base::Result<std::uint64_t> next_build(const Cell& cell, const World& world);

// Every package that the site wants, with the follow-ups of each want.
[[nodiscard]] std::vector<Want> wanted_packages(const Site& site, const Recipes& recipes);

// Says whether the plan of `want` depends on the offers of the source index: it has a version to choose, or
// an exact version that is neither published nor attempted.
[[nodiscard]] bool needs_offers(const Want& want, const Recipe& recipe, const World& world);

struct PlanInput {
    const Site& site;
    const Recipes& recipes;
    const World& world;
};

// Inserts tests and promotion after each cell of `plan` whose wheel the index has, as far as recipe and site
// request them. A promotion waits for the tests of every cell that uses the same wheel (for example a pure
// wheel), and for its set.
[[nodiscard]] std::vector<Cell> with_tests_and_promotions(std::vector<Cell> plan, const PlanInput& input);

// The promotion of a package and of everything that is built against it, in one request: users never see a
// part of the set. Once every wheel of a set passed its tests, the promotion of one of them is wanted and has
// the others in `with`; the package that the others are built against comes first. Until then the promotions
// of the set are held; if one of its cells needs a person, they are impossible, with that cell and its
// reason. `cells`: each build, followed by its tests and its promotion.
void promote_as_sets(std::vector<Cell>& cells, const RegistrySettings& registry);

// Appends a cell for each reproduction that a person has requested (`reproduce`) and that is not over:
// active, or wanted again after a failure that may pass. Its request is its first attempt, so the site file
// has nothing about it.
[[nodiscard]] std::vector<Cell> with_reproductions(std::vector<Cell> plan, const PlanInput& input);

}  // namespace wheelyard::builder
