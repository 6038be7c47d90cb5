// The answer as JSON for programs, with everything known about each wheel.
//
//     {"format":"wheelyard.avail_wheels/1","wheels":[{"filename":…,"name":…,"version":…,…}],"not_available":["pip"]}
#pragma once

#include <string>

#include "indexer/avail_wheels/query/query.hpp"

namespace wheelyard::avail_wheels {

[[nodiscard]] std::string render_document(const Answer& answer);

}  // namespace wheelyard::avail_wheels
