// Verifies an index as a whole: its signed state, and the hash of every page.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/attest/index_state.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::attest {

struct VerifiedIndex {
    IndexState state;
    std::vector<std::string> warnings;
    std::vector<std::string> projects;  // that have a page, sorted
    std::uint64_t pages = 0;
    std::vector<std::string> changed;  // paths of pages that are missing, or are not the signed ones
};

// Gives the bytes of a path below the index; nullopt: there is no such file.
using ReadFile = std::function<base::Result<std::optional<std::string>>(const std::string& path)>;

// Reads again where a publish run replaces the state meanwhile, and waits some seconds for it (publish_wait_ms). Errors: "attest.no_state", those of verify_index_state(), of
// SignedPages and of `read`. Pages that are not right are in `changed`, and no error.
[[nodiscard]] base::Result<VerifiedIndex> verify_index(const ReadFile& read, const Root& root,
                                                       std::string_view index, const SeenState& seen,
                                                       base::Clock& clock);

// The signed state at that place. Error "attest.no_state".
[[nodiscard]] base::Result<std::string> read_state(const ReadFile& read);

}  // namespace wheelyard::attest
