// Which version a cell of the matrix means: an exact one, or the newest that its sources offer, that the site
// does not call bad, and that the want does not leave out. Pure.
#pragma once

#include <optional>
#include <string>

#include "builder/plan/plan.hpp"

namespace wheelyard::builder {

// A version chosen for a cell, or why there is none.
struct Choice {
    std::optional<wheel::Version> version;  // without label
    CellState state = CellState::wanted;
    std::string reason;
};

struct ChoiceInput {
    const Site& site;
    const Want& want;
    const Recipe& recipe;  // for every version
    const World& world;
    const Python& python;
    std::string accelerator;  // of the site's, or empty
};
[[nodiscard]] Choice choose_version(const ChoiceInput& input, const std::string& wanted);

// Why nobody should build this version here, and what the site file says to take instead; or the exclusion
// that leaves it out; or nothing.
struct Objection {
    CellState state = CellState::impossible;
    std::string reason;
};
[[nodiscard]] std::optional<Objection> find_objection(const ChoiceInput& input,
                                                      const wheel::Version& version);

// Whether a Requires-Python lets this interpreter in; one that cannot be read does, as with pip.
[[nodiscard]] bool accepts_python(const std::string& requires_python, const Python& python);

// Of a package that is built against another one: its newest version whose recipe names `other`.
[[nodiscard]] std::optional<wheel::Version> companion_of(const Recipe& recipe, const wheel::Version& other);

}  // namespace wheelyard::builder
