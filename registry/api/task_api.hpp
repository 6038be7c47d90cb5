// The rules of tasks that operations, the pages and commands share (docs/reference/task.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/status/build_report.hpp"
#include "lib/store/commit/writer.hpp"
#include "lib/store/tasks/task_store.hpp"
#include "registry/access/tokens.hpp"
#include "registry/api/site_reports.hpp"
#include "registry/config/config.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::registry {

inline constexpr std::string_view task_list_format = "wheelyard.wishes/1";

// Those of an index that are open or ended lately, without the names of persons: running ones, then in the
// order of the queue, then those that ended.
[[nodiscard]] std::vector<status::RequestReport> shown_requests(tasks::TaskStore& tasks,
                                                                const std::string& index);
// The reason of its state, for everybody: names of persons are in reasons for an end that they decided.
[[nodiscard]] std::string public_reason(const wire::Task& task);

// Maps an error of the queue to a problem. Unknown errors become 500, 503 or 507.
[[nodiscard]] wire::Problem problem_of_task(const base::Error& error);

// Error "index.archived": the index takes no new tasks, or its wheels could not be uploaded.
[[nodiscard]] base::Status check_takes_builds(const RegistryConfig& config, const IndexConfig& index);
// Says whether the caller may ask for a failed wheel again: approves requests, and may make them.
[[nodiscard]] bool may_retry(const std::optional<Identity>& caller, const std::string& index,
                             const std::string& package);
// Says whether the build is one of the wheel that the request is for.
[[nodiscard]] bool answers(const status::BuildReport& build, const wire::TaskRequest& wanted);
// "task.would_publish": the wheel of a private index's source would be in a public index.
[[nodiscard]] base::Status check_stays_private(const RegistryConfig& config, const wire::TaskRequest& wanted);

}  // namespace wheelyard::registry
