// What an index keeps: files and bytes against its quota, the largest projects, who uploaded most. For operators.
//
//     {"format":"wheelyard.storage/1","index":"main","files":3,"bytes":1048576,"quota_files":null,"quota_bytes":null,
//      "quarantined":{"files":1,"bytes":4096},"fetched":{"files":9,"bytes":81920},"free_bytes":73000000000,
//      "growth":[{"day":"2026-11-20","files":2,"bytes":1044480}],
//      "projects":[{"project":"torch","files":2,"bytes":1044480,"newest":"2026-11-20T12:00:00.000000Z"}],
//      "uploaders":[{"name":"ci","files":3,"bytes":1048576}]}
//
// Sums of the wheels' sizes: two indexes with one wheel share its bytes on the disk. Indexes that it shows by inheritance
// are not counted; `fetched` is what its upstreams brought, which no other figure has. `growth` are the files that it has by
// the day they came, of the last 365 days; what was deleted since is in none.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// The document. Reads every row of the index; `free_bytes` is what the store's disk has left for uploads.
[[nodiscard]] base::Result<std::string> describe_storage(const RegistryConfig& config,
                                                         const catalog::Catalog& catalog,
                                                         const std::string& index, base::UnixMicros now);

}  // namespace wheelyard::registry
