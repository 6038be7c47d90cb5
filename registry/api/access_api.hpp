// Reports what the token of a request may do in an index (docs/reference/api.md, "What a token may do"). An agent asks
// before it compiles.
#pragma once

#include <string_view>

#include "registry/access/tokens.hpp"
#include "registry/config/config.hpp"
#include "registry/database/store.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::registry {

inline constexpr std::string_view access_operation = "showAccess";

[[nodiscard]] wire::Answered<http::ApiReply> show_access(const RegistryConfig& config,
                                                         const database::Store& store, TokenVerifier& tokens,
                                                         const http::ApiRequest& request);

}  // namespace wheelyard::registry
