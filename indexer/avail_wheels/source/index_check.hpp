// Distinguishes an index that has nothing from a URL that is no index.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::avail_wheels {

// Error "index.absent": the URL answers 404, or it is the front page of a registry or of one of its indexes. The
// advice names the indexes that the registry there has. Any other answer is taken for an index.
[[nodiscard]] base::Status check_index(const simple::GetPage& get, const std::string& index_url);

}  // namespace wheelyard::avail_wheels
