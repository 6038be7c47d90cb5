// Which upstream supplies a project, and whether the next one may be asked: the one that supplied it keeps it
// until an operator releases it. Pure.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "registry/upstream/page_store.hpp"
#include "registry/upstream/source.hpp"

namespace wheelyard::registry {

enum class Standing {
    unknown,   // it has not been asked
    supplies,  // it lists the project, or did until it lost it: the page stays as it was
    keeps,     // it supplied files once and lists none; nobody takes its place
    binds,     // it never had the project, and the name is its own by `allow`; nobody takes its place
    passes,    // it never had the project, or was released: the next one is asked
};
[[nodiscard]] Standing standing_of(const Candidate& candidate, const CachedPage* page);

// The candidate that supplied the project to this index: as its page notes, else the first of the index's own
// upstreams of which a page or files are there (a restored backup has only the files). nullptr: none did.
// `pages` are those of the candidates, in their order.
[[nodiscard]] const Candidate* supplier_of(const std::vector<Candidate>& candidates,
                                           std::span<const SharedPage> pages, const std::string& index);

// Says whether this candidate may supply the project to `index`, which was asked: no other one did, neither
// to it nor, before it was asked, to an index from which it inherits a candidate.
[[nodiscard]] bool may_supply(const Candidate& candidate, const std::vector<Candidate>& candidates,
                              std::span<const SharedPage> pages, const std::string& index);

}  // namespace wheelyard::registry
