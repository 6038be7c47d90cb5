// Which errors of a publish run concern one project, and which all of them.
#pragma once

#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// A blob is missing or damaged, and a person has to restore it: its file is left off its page.
[[nodiscard]] bool is_blob_error(const base::Error& error);
// A full or read-only disk affects every project: the whole run fails and keeps its position in the log.
[[nodiscard]] bool is_machine_wide(const base::Error& error);

}  // namespace wheelyard::indexer
