// Tokens over HTTP (docs/reference/api.md): a token with the action `token` creates, lists and revokes tokens within its
// own scope. access/token_rules.hpp has the rules that the command line shares.
#pragma once

#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "registry/access/tokens.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/config.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::registry {

// Every referenced object outlives the TokenApi.
struct TokenApiParts {
    const RegistryConfig& config;
    TokenVerifier& tokens;
    Writer& writer;
    const base::Clock& clock;
};

class TokenApi {
  public:
    explicit TokenApi(const TokenApiParts& parts) : parts_(parts) {}
    [[nodiscard]] static bool handles(std::string_view operation);
    [[nodiscard]] wire::Answered<http::ApiReply> answer(const http::ApiRequest& request);

  private:
    using Reply = wire::Answered<http::ApiReply>;
    Reply create(const http::ApiRequest& request, const Identity& caller);
    Reply list(const http::ApiRequest& request, const Identity& caller);
    // Any token may revoke itself: it may have leaked.
    Reply revoke(const http::ApiRequest& request, const Identity& caller);
    TokenApiParts parts_;
};

}  // namespace wheelyard::registry
