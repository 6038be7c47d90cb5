// The actor that the audit log records for commands that run on the data folder without a token:
// "local:USER", or "local:UID" if the user has no name.
#pragma once

#include <sys/types.h>

#include <string>

namespace wheelyard::registry {

[[nodiscard]] std::string local_actor();
[[nodiscard]] std::string local_actor(uid_t user);

}  // namespace wheelyard::registry
