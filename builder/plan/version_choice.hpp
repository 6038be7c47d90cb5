// The version of a cell: an exact one, or the newest that its sources offer and that neither the site's known_bad nor
// the want's exclude contains. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "builder/plan/plan.hpp"

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
    const Recipe& recipe;  // for every version
    const World& world;
    const Python& python;
    std::string accelerator;  // name in the site file, or empty
};
[[nodiscard]] Choice choose_version(const ChoiceInput& input, const std::string& wanted);

// Why this version is not built here: an entry of the site's known_bad, with the version to use instead, or of the
// want's exclude.
struct Objection {
    CellState state = CellState::impossible;
    std::string reason;
};
[[nodiscard]] std::optional<Objection> find_objection(const ChoiceInput& input,
                                                      const wheel::Version& version);

// Whether a Requires-Python accepts this interpreter. An invalid one accepts every interpreter, as in pip.
[[nodiscard]] bool accepts_python(const std::string& requires_python, const Python& python);

// For a package that is built against another one: the versions that its recipe names for `other`, and the newest of them.
[[nodiscard]] std::vector<wheel::Version> companions_of(const Recipe& recipe, const wheel::Version& other);
[[nodiscard]] std::optional<wheel::Version> companion_of(const Recipe& recipe, const wheel::Version& other);

}  // namespace wheelyard::builder
