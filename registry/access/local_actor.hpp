// Who works on the data folder without a token: "local:USER", for the log of who did what.
#pragma once

#include <string>

namespace wheelyard::registry {

[[nodiscard]] std::string local_actor();

}  // namespace wheelyard::registry
