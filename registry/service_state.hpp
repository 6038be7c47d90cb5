// What this registry says of itself to /readyz and /metrics: how far the pages are behind, and how much room
// is left. Knowledge only, but for the one call that looks.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "registry/commit/publishing.hpp"
#include "registry/commit/writer.hpp"
#include "registry/http/metrics.hpp"
#include "registry/tasks/task_store.hpp"

namespace wheelyard::registry {

// Why an upload would not become installable now, for a person; empty: it would. Pages that are behind for
// less than `patience_ms` are on their way.
[[nodiscard]] std::string why_not_ready(const PublishQueue::Lag& lag, std::uint64_t free_bytes,
                                        std::int64_t patience_ms);

// Never waits for long: two locks that are held for moments, and statvfs(2).
[[nodiscard]] http::ServiceState look_at_service(const PublishQueue& pages, const Writer& writer,
                                                 const tasks::TaskStore& tasks,
                                                 const std::filesystem::path& store,
                                                 std::int64_t patience_ms);

}  // namespace wheelyard::registry
