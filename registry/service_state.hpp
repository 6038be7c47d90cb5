// The registry's state for /readyz and /metrics: publishing lag and free disk space. Pure except for the call
// that reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "registry/commit/publishing.hpp"
#include "registry/commit/writer.hpp"
#include "registry/http/metrics.hpp"
#include "registry/tasks/task_store.hpp"

namespace wheelyard::registry {

// Why uploads do not become installable now; empty if they do. A lag below `patience_ms` is normal.
[[nodiscard]] std::string why_not_ready(const PublishQueue::Lag& lag, std::uint64_t free_bytes,
                                        std::int64_t patience_ms);

// Does not block for long: two short locks and statvfs(2).
[[nodiscard]] http::ServiceState look_at_service(const PublishQueue& pages, const Writer& writer,
                                                 const tasks::TaskStore& tasks,
                                                 const std::filesystem::path& store,
                                                 std::int64_t patience_ms);

}  // namespace wheelyard::registry
