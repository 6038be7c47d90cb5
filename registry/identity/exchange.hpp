// The requests of a log-in: the address that a browser is sent to, and the exchange of its code for an ID
// token (OpenID Connect Core 1.0, 3.1.2 and 3.1.3; PKCE, RFC 7636), and the device code (RFC 8628).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/result.hpp"
#include "registry/identity/provider.hpp"

namespace wheelyard::identity {

using Form = std::vector<std::pair<std::string, std::string>>;
[[nodiscard]] std::string render_form(const Form& form);  // application/x-www-form-urlencoded

// BASE64URL(SHA-256(verifier)).
[[nodiscard]] std::string challenge_of(std::string_view verifier);
// 32 random bytes as base64url: a state, a nonce, a verifier.
[[nodiscard]] std::string random_text();

struct Answer {
    int status = 0;
    std::string body;
};
// Sends a form. `client_secret`: empty, or sent as Basic authentication with the client's id.
using Post =
    std::function<base::Result<Answer>(const std::string& url, const Form& form, const std::string& client_id,
                                       const std::string& client_secret)>;

// What both ways need to know of us.
struct Client {
    std::string id;
    std::string secret;    // empty: a public client
    std::string redirect;  // absolute; of log-in by page
    std::string scopes;    // "openid profile"
};

struct Begin {
    std::string state;
    std::string nonce;
    std::string verifier;
};
[[nodiscard]] std::string authorization_url(const Endpoints& endpoints, const Client& client,
                                            const Begin& begin);

// The ID token for a code. Errors: those of `post`; "provider.refused" where the provider refuses, with its
// own word for it; "provider.answer" where its answer has no ID token.
[[nodiscard]] base::Result<std::string> exchange_code(const Endpoints& endpoints, const Client& client,
                                                      const std::string& code, const std::string& verifier,
                                                      const Post& post);

struct DeviceCode {
    std::string device;  // for us and the provider
    std::string user;    // for the person
    std::string url;
    std::string complete_url;  // with the code in it; empty: the provider has none
    std::int64_t interval_s = 5;
    std::int64_t life_s = 0;
};
[[nodiscard]] base::Result<DeviceCode> begin_device(const Endpoints& endpoints, const Client& client,
                                                    const std::string& verifier, const Post& post);

// After a poll: a token, or how long to wait until the next one.
struct DevicePoll {
    std::string id_token = {};     // empty: nobody has entered the code yet
    std::int64_t longer_by_s = 0;  // the provider asks for longer pauses
};
[[nodiscard]] base::Result<DevicePoll> poll_device(const Endpoints& endpoints, const Client& client,
                                                   const std::string& device, const std::string& verifier,
                                                   const Post& post);

// Requests to providers over libcurl: no redirect, no proxy of the environment, two seconds to connect and
// five in all, 64 KiB of answer; private addresses only where the rules permit them.

// Each call has a connection of its own, so any thread may call them. Errors: those of io::HttpClient,
// "provider.status".
[[nodiscard]] Provider::Fetch fetch_over_network(bool permits_private);
[[nodiscard]] Post post_over_network(bool permits_private);

}  // namespace wheelyard::identity
