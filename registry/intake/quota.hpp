// The quotas of an index: how much more one upload may add.
#pragma once

#include <cstdint>
#include <vector>

#include "lib/store/catalog/catalog.hpp"
#include "lib/wire/problem.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// Sums `usage` over one name, or over all if `uploaded_by` is empty.
[[nodiscard]] catalog::Usage usage_of(const std::vector<catalog::Usage>& usage, std::string_view uploaded_by);

// Says whether a new file of `size_bytes` by `uploaded_by` stays within both quotas of the index: 403
// "upload.quota". `usage` is the index's. Uploads that run at the same time do not see each other, so a quota
// can be exceeded by one file for each of them.
[[nodiscard]] wire::Answered<void> check_quota(const IndexConfig& index,
                                               const std::vector<catalog::Usage>& usage,
                                               const std::string& uploaded_by, std::uint64_t size_bytes);

}  // namespace wheelyard::registry
