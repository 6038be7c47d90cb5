// How the upstreams of an index have failed, from what the server keeps of it. For operators.
//
//     {"format":"wheelyard.upstreams/1","index":"main","upstreams":[{"upstream":"main.public","url":"https://…/simple/",
//      "failures":[{"time":…,"since":…,"count":3,"next_try":…,"project":"six","upstream_wide":true,"code":"http.connect",
//                   "error":"the server refuses connections","value":"index.example.org"}]}]}
//
// The newest failure first, one for each project.
#pragma once

#include <string>

#include "registry/config/config.hpp"

namespace wheelyard::registry {

[[nodiscard]] std::string describe_upstreams(const RegistryConfig& config, const std::string& index);

}  // namespace wheelyard::registry
