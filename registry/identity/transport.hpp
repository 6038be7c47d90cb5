// Requests to providers over libcurl: no redirect, no proxy of the environment, two seconds to connect and five in all,
// 64 KiB of answer; private addresses only where the rules permit them.
#pragma once

#include "registry/identity/exchange.hpp"
#include "registry/identity/provider.hpp"

namespace wheelyard::identity {

// Each call has a connection of its own, so any thread may call them. Errors: those of io::HttpClient, "provider.status".
[[nodiscard]] Provider::Fetch fetch_over_network(bool permits_private);
[[nodiscard]] Post post_over_network(bool permits_private);

}  // namespace wheelyard::identity
