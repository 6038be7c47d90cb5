// Selects the files that a retention rule deletes: all but the newest versions of each series. Pure, no I/O.
//
// A series is a version's epoch and first two release numbers: 2.4.0, 2.4.1rc1 and 2.4.1+cu126 are of series
// 2.4. Versions that differ only in their local part count as one, so that builds for other hardware are kept
// together. "Newest" is PEP 440's order, so a final release is kept longer than its candidates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "registry/catalog/catalog.hpp"

namespace wheelyard::lifecycle {

struct GivenUp {
    std::string filename;
    std::string series;
};
// `files`: one project's, in any order. A pinned file is never deleted, and neither is a quarantined one (it
// is evidence) or one whose version cannot be read; none of them takes a kept version's place.
[[nodiscard]] std::vector<GivenUp> choose_given_up(const std::vector<catalog::FileRow>& files,
                                                   std::int64_t keep);

}  // namespace wheelyard::lifecycle
