// Whether this agent can build uploaded sources so that their code cannot read what the agent keeps: its tokens, its
// state, other attempts, passwords of pip's configuration.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "builder/attempt/environment.hpp"
#include "builder/site/python.hpp"
#include "builder/site/site.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// The folders of the system that every such build reads.
[[nodiscard]] const std::vector<std::filesystem::path>& system_folders();

// Error "uploads.*": why it cannot, and what to change. Looks at folders and programs of this machine only. `user` runs
// the agent: the kernel bounds no processes of root, and what root's namespace may do in its own reaches further.
[[nodiscard]] base::Status check_separation(const Site& site,
                                            const std::map<std::string, base::Result<Python>>& pythons,
                                            std::string_view pip_conf, const EnvironmentMap& environment,
                                            uid_t user);

}  // namespace wheelyard::builder
