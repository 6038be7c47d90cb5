// Finds the source distribution that a task names.
#pragma once

#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/wire/task.hpp"

namespace wheelyard::registry {

// Fills file name and SHA-256 of the request's source, if it has one, from the files of that index itself:
// what an index inherits or fetched from an upstream was not uploaded to it. `request` must have passed
// check_task_request(). Error "task.no_such_source".
[[nodiscard]] base::Result<wire::TaskRequest> resolve_source(wire::TaskRequest request,
                                                             const catalog::Catalog& catalog);

}  // namespace wheelyard::registry
