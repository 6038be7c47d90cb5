// What is listed and what is not: pure, from the wheels that a source offers to the ones that are shown, in
// the order in which they are shown.
//
// - A wheel is listed when its Python and ABI tags suit one of the Pythons (as pip decides it), its
// `Requires-Python` too, and its platform
//   is `any`, `linux_*` or `manylinux*`. musl wheels and other systems' are listed with `everything` only.
// - Yanked wheels are listed only when a specifier pins their version exactly (PEP 592), or with
// `everything`.
// - Unless `all_versions`: only the newest public version of each project among those, whatever its
// architectures and local versions;
//   a pre-release is the newest only where nothing else is left (PEP 440).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "indexer/avail_wheels/node/python.hpp"
#include "indexer/avail_wheels/query/candidate.hpp"
#include "indexer/avail_wheels/query/wanted.hpp"

namespace wheelyard::avail_wheels {

struct Query {
    std::vector<Wanted> wanted;      // empty: nothing; everything is "*"
    std::vector<Python> pythons;     // empty: any Python
    std::vector<std::string> archs;  // empty: any
    bool all_versions = false;
    // One more condition, asked last (--here: does it run?); empty: none.
    std::function<bool(const Candidate&)> suits = {};
    bool everything = false;  // --all: nothing is hidden but what was not asked for by name
};

struct Answer {
    std::vector<Candidate> wheels;  // name (case ignored), then version, arch and Python, newest first
    std::vector<std::string>
        not_available;  // what was wanted and has no wheel among `wheels`, in the same order
};

[[nodiscard]] Answer select(const Query& query, std::vector<Candidate> offered);
// The same from wheels that Filter has let through.
[[nodiscard]] Answer choose(const Query& query, std::vector<Candidate> listed);

[[nodiscard]] bool allows_python(const wheel::SpecifierSet& requires_python, const Python& python);

// Wanted requirements whose marker says that no Python of the query needs them are dropped.
[[nodiscard]] std::vector<Wanted> applicable(std::vector<Wanted> wanted, const std::vector<Python>& pythons);

// The key by which names sort: "Flash.Attn" → "flash_attn".
[[nodiscard]] std::string name_key(std::string_view name);

// Compares as a reader counts: runs of digits by value, so that cp39 comes before cp310.
[[nodiscard]] std::strong_ordering compare_naturally(std::string_view a, std::string_view b);

}  // namespace wheelyard::avail_wheels
