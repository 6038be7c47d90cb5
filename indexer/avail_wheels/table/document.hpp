// The answer as JSON for programs, with everything known about each wheel.
//
//     {"format":"wheelyard.avail_wheels/1","wheels":[{"filename":…,"name":…,"version":…,…}],"not_available":["pip"]}
#pragma once

#include <string>
#include <vector>

#include "indexer/avail_wheels/query/lock_answer.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::avail_wheels {

// `lock`: what of a lock is here, as a member of this name; null: none was asked about.
[[nodiscard]] std::string render_document(const Answer& answer, io::Json lock = {});
[[nodiscard]] io::Json render_lock(const std::string& file, const std::vector<LockedHere>& packages,
                                   std::size_t left_out, const std::vector<std::string>& refusals);

}  // namespace wheelyard::avail_wheels
