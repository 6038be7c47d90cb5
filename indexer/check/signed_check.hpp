// The checks of `check --root`: a tree that somebody changed consistently has other pages than the registry signed.
//
//     not_signed       an index has no valid state: none, of another key or index, expired, older than one that was seen
//     not_as_signed    a page or a compressed copy that is missing or not the signed one
//     unlisted_page    a page that nobody has signed
#pragma once

#include <filesystem>
#include <string>

#include "indexer/check/web_check.hpp"
#include "lib/attest/root.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

struct SignedCheck {
    attest::Root root;
    // The folder of INDEX.seen, which remembers the newest state once all is right: an index that was seen has to be there.
    std::filesystem::path seen = {};  // empty: not remembered
    std::string signed_as = {};       // the registry's name of each index; empty: that of its folder
};

// Errors: "attest.seen"; the tree or `seen` cannot be read or written.
[[nodiscard]] base::Status check_signatures(const std::filesystem::path& tree, const SignedCheck& wanted,
                                            base::Clock& clock, const NoteFinding& note);

}  // namespace wheelyard::indexer
