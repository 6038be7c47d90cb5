// A line of `site check`: whether this machine can build uploaded sources apart from the agent.
#pragma once

#include <unistd.h>

#include <optional>

#include "builder/attempt/environment.hpp"
#include "builder/schedule/machine_check.hpp"
#include "builder/site/site.hpp"

namespace wheelyard::builder {

// nullopt: the site has no [uploaded_sources]. Starts the namespace of a build, in a temporary folder.
[[nodiscard]] std::optional<SiteLine> check_uploaded_sources(const Site& site,
                                                             const EnvironmentMap& environment,
                                                             uid_t user = ::geteuid());

}  // namespace wheelyard::builder
