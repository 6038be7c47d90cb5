// The plan: for every cell of the site's matrix, what state it is in and why. Pure: everything it needs to
// know comes in.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/attempt.hpp"
#include "builder/plan/offers.hpp"
#include "builder/site/python.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"
#include "lib/base/result.hpp"
#include "lib/simple/page.hpp"

namespace wheelyard::builder {

enum class CellState {
    have,        // the index has a wheel that this Python accepts, or the one that a task's wheel goes to
    active,      // an attempt is under way
    wanted,      // to be built next
    held,        // wanted, but not yet: the reason says what it waits for
    given_up,    // tried, and a person must look
    impossible,  // cannot be built as the site file asks
    excluded,    // left out by the site file
    unknown,     // somebody who must be asked does not answer
};
[[nodiscard]] std::string_view cell_state_text(CellState state);

struct Cell {
    std::string task;
    std::string package;
    std::string version;  // as in the site file where it could not be resolved
    std::string python;
    std::string accelerator;  // of the site's; empty: the wheel is the same for all of them
    std::string against;      // "torch==2.4.0+cu123": what of the same index it is built against, or empty
    CellState state = CellState::unknown;
    std::string reason;
    std::string attempt;  // the latest one, or empty
    std::string recipe;   // file, or "default recipe"
    Purpose purpose = Purpose::build;
    std::optional<simple::FileLink> wheel = {};  // that the index has for this cell
    bool awaits_others =
        false;  // held, and no tick of this agent can change that: a person must, or a registry
};

struct Plan {
    std::vector<Cell> cells;    // in the order of the site file
    std::string start_nothing;  // why no new attempt may start at all, or empty
    [[nodiscard]] std::size_t count(CellState state) const;
};

using Pythons = std::map<std::string, base::Result<Python>>;
using Pages = std::map<std::string, base::Result<std::optional<simple::ProjectPage>>>;
using Offers = std::map<std::string, base::Result<SdistOffers>>;

// What is known of the world. A project missing from `offers` was not asked for.
struct World {
    Pythons pythons;  // by the site's version names
    Pages published;  // in the site's index; empty without a registry
    Pages promoted;   // in the index for everybody; empty without one
    Offers offers;    // sdists to build from
    std::vector<Attempt> attempts;
    std::vector<base::Error> journal_problems;
};

[[nodiscard]] Plan make_plan(const Site& site, const Recipes& recipes, const World& world);

// Every package that the site wants, follow-ups included, each once.
[[nodiscard]] std::vector<Want> wanted_packages(const Site& site, const Recipes& recipes);

// Whether the plan of `want` depends on what the source index offers: a version to choose, or an exact one
// that is neither published nor tried.
[[nodiscard]] bool needs_offers(const Want& want, const Recipe& recipe, const World& world);

}  // namespace wheelyard::builder
