// Selects and orders the wheels of a source that are shown. Pure.
//
// - A wheel is listed if its Python and ABI tags and its `Requires-Python` match one of the Pythons (as in
// pip)
//   and its platform is `any`, `linux_*` or `manylinux*`, on musl `musllinux*`, of `machine`. Only `everything`
//   lists those of other systems.
// - Yanked wheels are listed only if a specifier pins their exact version (PEP 592), or with `everything` or
//   `yanked`.
// - Without `all_versions`, only the newest public version of each project is listed, with all architectures
//   and local versions. A pre-release counts only if no final version is left (PEP 440), or with
//   `prereleases`.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "indexer/avail_wheels/node/python.hpp"
#include "indexer/avail_wheels/query/candidate.hpp"
#include "indexer/avail_wheels/query/wanted.hpp"

namespace wheelyard::avail_wheels {

struct Query {
    std::vector<Wanted> wanted;      // empty: none; all projects are "*"
    std::vector<Python> pythons;     // empty: any Python
    std::vector<std::string> archs;  // empty: any
    bool all_versions = false;
    std::string machine = {};  // only wheels for it and for any machine; empty: every machine
    bool musl = false;
    bool yanked = false;       // lists yanked wheels, too: --why explains them
    bool prereleases = false;  // the newest version may be a pre-release: the Alliance's list of everything
    // An additional condition, checked last (--here: the wheel runs); empty: none.
    std::function<bool(const Candidate&)> suits = {};
    bool everything = false;  // --all: lists every wheel of the wanted names
};

struct Answer {
    std::vector<Candidate> wheels;  // name (case ignored), then version, arch and Python, newest first
    std::vector<std::string> not_available;  // wanted names without a wheel in `wheels`, in the same order
};

[[nodiscard]] Answer select(const Query& query, std::vector<Candidate> offered);
// As select(), for wheels that Filter has already accepted.
[[nodiscard]] Answer choose(const Query& query, std::vector<Candidate> listed);

[[nodiscard]] bool allows_python(const wheel::SpecifierSet& requires_python, const Python& python);

// Drops requirements whose marker excludes every Python of the query (none: every Python 3) on `machine`
// (empty: on each of some machines). The kernel's version is unknown here: no marker of it holds.
[[nodiscard]] std::vector<Wanted> applicable(std::vector<Wanted> wanted, const std::vector<Python>& pythons,
                                             const std::string& machine);

// Says whether the marker of a requirement, if it has one, holds for one of these Pythons on `machine`;
// empty: for any.
[[nodiscard]] bool applies(const Wanted& wanted, const std::vector<Python>& pythons,
                           const std::string& machine);

// Says whether a marker holds for a Python on `machine`, with no extra. The kernel's version is unknown.
// `others`: more variables, such as `extras` and `dependency_groups` of a lock.
[[nodiscard]] bool marker_holds(const wheel::Marker& marker, const Python& python, const std::string& machine,
                                const wheel::MarkerEnvironment& others);

// The sort key of a name: "Flash.Attn" → "flash_attn".
[[nodiscard]] std::string name_key(std::string_view name);

// Natural order: runs of digits compare by value, so cp39 comes before cp310.
[[nodiscard]] std::strong_ordering compare_naturally(std::string_view a, std::string_view b);

}  // namespace wheelyard::avail_wheels
