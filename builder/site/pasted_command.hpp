// Commands in the advice of an error, with the names that make them complete: a person can paste them.
#pragma once

#include <string>

#include "builder/site/site.hpp"

namespace wheelyard::builder {

// "wheelyard-builder retry torch-2.4.0-cp312 --site /etc/wheelyard/site.toml"; `command`: "retry"; `name`: may be empty.
[[nodiscard]] std::string pasted_command(const std::string& command, const std::string& name,
                                         const Site& site);

// Completes "wheelyard-builder retry" and "wheelyard-builder logs" in `advice`, which must not name a cell yet. The agent
// does so once, when an attempt fails.
[[nodiscard]] std::string complete_commands(const std::string& advice, const std::string& cell,
                                            const std::string& attempt, const Site& site);

}  // namespace wheelyard::builder
