// Log-in of people over HTTP (docs/reference/api.md): by page with the code of a provider, and by the code of
// a device. What comes back is a token of ours with the rights of the person's groups; nothing of the
// provider's is kept.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/store/commit/writer.hpp"
#include "registry/api/logins.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::registry {

// Every referenced object outlives the LoginApi.
struct LoginApiParts {
    const RegistryConfig& config;
    Logins& logins;
    Writer& writer;
    const base::Clock& clock;
};

class LoginApi {
  public:
    explicit LoginApi(const LoginApiParts& parts) : parts_(parts) {}
    using Reply = wire::Answered<http::ApiReply>;
    [[nodiscard]] Reply list() const;
    Reply begin(const http::ApiRequest& request, const Logins::Known& known);
    Reply finish(const http::ApiRequest& request, const Logins::Known& known);
    Reply begin_device(const http::ApiRequest& request, const Logins::Known& known);
    Reply poll_device(const http::ApiRequest& request, const Logins::Known& known);

  private:
    [[nodiscard]] wire::Answered<identity::Claims> verify(const http::ApiRequest& request,
                                                          const Logins::Known& known,
                                                          const std::string& token,
                                                          const std::optional<std::string>& nonce) const;
    // A token for who was verified.
    Reply admit(const http::ApiRequest& request, const Logins::Known& known, const identity::Claims& claims,
                identity::Purpose purpose);
    LoginApiParts parts_;
};

}  // namespace wheelyard::registry
