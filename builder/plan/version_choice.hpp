// The version of a cell: an exact one, or the newest that its sources offer and that neither the site's
// known_bad nor the want's exclude contains. Pure.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "builder/plan/plan.hpp"
#include "builder/site/python.hpp"
#include "builder/site/recipe.hpp"
#include "builder/site/site.hpp"
#include "lib/wheel/version.hpp"

namespace wheelyard::builder {

// A version chosen for a cell, or why there is none.
struct Choice {
    std::optional<wheel::Version> version;  // without the label
    CellState state = CellState::wanted;
    std::string reason;
};

struct ChoiceInput {
    const Site& site;
    const Want& want;
    const Recipe& recipe;                                    // for every version
    std::function<Recipe(const wheel::Version&)> recipe_of;  // for one, and this accelerator
    const World& world;
    const Python& python;
    std::string accelerator;  // name in the site file, or empty
};
[[nodiscard]] Choice choose_version(const ChoiceInput& input, const std::string& wanted);

// Why this version is not built here: an entry of the site's known_bad, with the version to use instead, or
// of the want's exclude.
struct Objection {
    CellState state = CellState::impossible;
    std::string reason;
};
[[nodiscard]] std::optional<Objection> find_objection(const ChoiceInput& input,
                                                      const wheel::Version& version);

// Says whether a Requires-Python accepts this interpreter. An invalid one accepts every interpreter, as in
// pip.
[[nodiscard]] bool accepts_python(const std::string& requires_python, const Python& python);

// For a package that is built against another one: the versions that its recipe names for `other`, and the
// newest of them.
[[nodiscard]] std::vector<wheel::Version> companions_of(const Recipe& recipe, const wheel::Version& other);
[[nodiscard]] std::optional<wheel::Version> companion_of(const Recipe& recipe, const wheel::Version& other);

// Applies the version pairs of a site to one cell: what its machine must provide, and what bounds the build.
// Pure.

struct PairInput {
    const Site& site;
    const Recipe& recipe;
    const wheel::Version& version;
    const Python& python;
    std::string accelerator;   // name in the site file, or empty
    std::string against = {};  // "torch==2.4.0", or empty
};

// Why the site's machine cannot build or run this version: the first row that it violates, or one for each
// of the accelerator's GPUs. A Python, a module, a repository beside the build, or `[versions]` without a
// version violates nothing.
[[nodiscard]] std::optional<std::string> find_misfit(const PairInput& input);

// The accelerator's GPUs that the toolkit and the package can be compiled for, by the rows of GPUs
// (version_pairs.hpp); of what is built against another package, also by that one's. All of them fit where
// no variable of the recipe has them by a placeholder ("{cuda_architectures}"): then the plan cannot know
// what is compiled for them.
struct GpuFit {
    std::vector<std::string> fitting;  // as site.toml writes them
    std::string refusals;              // of the others, with their rows; empty: all fit
};
[[nodiscard]] GpuFit fit_gpus(const PairInput& input);

// The site whose accelerators have the architectures that an attempt's build is for, and no others; all where
// none fits.
[[nodiscard]] Site for_gpus(Site site, const Recipe& recipe, const Asked& asked);

// What the recipe's build needs of the site, and no key of the site names: no module whose name has it, no
// variable, no version in [versions]; nor is one of its programs among `programs`. Says which keys would.
[[nodiscard]] std::optional<std::string> find_unnamed(const PairInput& input,
                                                      const std::set<std::string>& programs);

// A version that no row of the table covers, where the table has rows for this package and what the machine
// provides.
struct UnknownPair {
    std::string reason;   // "no row for torch 2.15.0 with cuda 12.3.2"
    std::string nearest;  // that row, with its source
};
[[nodiscard]] std::optional<UnknownPair> find_unknown(const PairInput& input);

// The rows that bound the build's requirements and what the cell has of its machine, each with its source:
// for `plan --explain`.
[[nodiscard]] std::vector<std::string> cite_bounds(const PairInput& input);

// What this version is known to do wrong on the cell's machine, each with its source.
[[nodiscard]] std::vector<std::string> cite_limits(const PairInput& input);

}  // namespace wheelyard::builder
