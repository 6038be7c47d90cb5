#include "registry/identity/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/http_client.hpp"
#include "lib/io/json.hpp"
#include "registry/identity/limits.hpp"

namespace wheelyard::identity {

namespace {

constexpr std::size_t max_device_code_bytes =
    2 * base::kib;                          // sealed and as base64url it fits into a `state`
constexpr std::int64_t default_poll_s = 5;  // RFC 8628, 3.2
constexpr std::int64_t slow_down_s = 5;     // RFC 8628, 3.5

constexpr std::size_t random_text_bytes = 32;
constexpr std::size_t max_answer_depth = 8;
constexpr int status_good = 200;

// The words of RFC 6749, 5.2 and RFC 8628, 3.5, shortened: a provider's longer text may quote the request.
std::string word_of(const io::Json& answer) {
    const std::string word = answer.string_or("error", "");
    const bool is_word =
        !word.empty() && word.size() <= 60 &&
        std::all_of(word.begin(), word.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
    return is_word ? word : std::string();
}

base::Result<io::Json> read_answer(const Answer& answer) {
    auto json = io::parse_strict_json(answer.body, {.bytes = max_document_bytes, .depth = max_answer_depth});
    if (json && json->as_object() != nullptr) return *std::move(json);
    return base::fail_for_now("provider.answer", "The provider's answer cannot be read",
                              "status " + std::to_string(answer.status), "see the provider's log");
}

// Words of RFC 6749, 5.2, and of OpenID Connect Dynamic Registration about the client, which no other log-in
// changes.
constexpr std::string_view words_of_client[] = {
    "invalid_client", "invalid_redirect_uri", "invalid_request",
    "invalid_scope",  "unauthorized_client",  "unsupported_grant_type",
};

tl::unexpected<base::Error> refuse_answer(const Answer& answer, const io::Json& json) {
    const std::string word = word_of(json);
    const bool is_of_client =
        std::find(std::begin(words_of_client), std::end(words_of_client), word) != std::end(words_of_client);
    return base::fail_as(base::ErrorKind::refused, base::Recovery::never,
                         {"provider.refused", "The provider refuses this log-in",
                          word.empty() ? "status " + std::to_string(answer.status) : word,
                          is_of_client ? "the registry's operator has to correct [[identity]], or the client "
                                         "that the provider has for it"
                                       : "log in again"});
}

base::Result<std::string> id_token_of(const io::Json& json) {
    std::string token = json.string_or("id_token", "");
    if (!token.empty()) return token;
    return base::fail_as(base::ErrorKind::refused, base::Recovery::person,
                         {"provider.answer",
                          "The provider's answer has no ID token",
                          {},
                          "the client needs the scope `openid`"});
}

}  // namespace

std::string render_form(const Form& form) {
    std::string text;
    for (const auto& [name, value] : form) {
        if (!text.empty()) text += '&';
        text.append(base::encode_percent(name)).append("=").append(base::encode_percent(value));
    }
    return text;
}

std::string challenge_of(std::string_view verifier) {
    return base::encode_base64url(base::decode_hex(base::sha256_hex(verifier)).value());
}

std::string random_text() {
    return base::encode_base64url(base::random_bytes(random_text_bytes));
}

std::string authorization_url(const Endpoints& endpoints, const Client& client, const Begin& begin) {
    const Form form{{"response_type", "code"},
                    {"client_id", client.id},
                    {"redirect_uri", client.redirect},
                    {"scope", client.scopes},
                    {"state", begin.state},
                    {"nonce", begin.nonce},
                    {"code_challenge", challenge_of(begin.verifier)},
                    {"code_challenge_method", "S256"}};
    const bool has_query = endpoints.authorization.find('?') != std::string::npos;
    return endpoints.authorization + (has_query ? "&" : "?") + render_form(form);
}

base::Result<std::string> exchange_code(const Endpoints& endpoints, const Client& client,
                                        const std::string& code, const std::string& verifier,
                                        const Post& post) {
    const Form form{{"grant_type", "authorization_code"},
                    {"client_id", client.id},
                    {"code", code},
                    {"redirect_uri", client.redirect},
                    {"code_verifier", verifier}};
    WHEELYARD_ASSIGN(const Answer answer, post(endpoints.token, form, client.id, client.secret));
    WHEELYARD_ASSIGN(const io::Json json, read_answer(answer));
    if (answer.status != status_good) return refuse_answer(answer, json);
    return id_token_of(json);
}

// PKCE goes with the device request, too: a client that Keycloak forces to it is refused without, and others
// ignore it.
base::Result<DeviceCode> begin_device(const Endpoints& endpoints, const Client& client,
                                      const std::string& verifier, const Post& post) {
    if (endpoints.device.empty())
        return base::fail_as(base::ErrorKind::unsupported, base::Recovery::person,
                             {"provider.no_device",
                              "The provider has no log-in by device code",
                              {},
                              "log in with a browser, at /api/v1/login/ of the registry"});
    const Form form{{"client_id", client.id},
                    {"scope", client.scopes},
                    {"code_challenge", challenge_of(verifier)},
                    {"code_challenge_method", "S256"}};
    WHEELYARD_ASSIGN(const Answer answer, post(endpoints.device, form, client.id, client.secret));
    WHEELYARD_ASSIGN(const io::Json json, read_answer(answer));
    if (answer.status != status_good) return refuse_answer(answer, json);
    DeviceCode code{
        .device = json.string_or("device_code", ""),
        .user = json.string_or("user_code", ""),
        .url = json.string_or("verification_uri", ""),
        .complete_url = json.string_or("verification_uri_complete", ""),
        .interval_s = std::clamp<std::int64_t>(json.int_or("interval", default_poll_s), 1, max_poll_s),
        .life_s = std::clamp<std::int64_t>(json.int_or("expires_in", waiting_life_s), 1, waiting_life_s)};
    if (!code.device.empty() && code.device.size() <= max_device_code_bytes && !code.user.empty() &&
        !code.url.empty())
        return code;
    return base::fail_for_now("provider.answer", "The provider's answer has no device code");
}

base::Result<DevicePoll> poll_device(const Endpoints& endpoints, const Client& client,
                                     const std::string& device, const std::string& verifier,
                                     const Post& post) {
    const Form form{{"grant_type", "urn:ietf:params:oauth:grant-type:device_code"},
                    {"client_id", client.id},
                    {"device_code", device},
                    {"code_verifier", verifier}};
    WHEELYARD_ASSIGN(const Answer answer, post(endpoints.token, form, client.id, client.secret));
    WHEELYARD_ASSIGN(const io::Json json, read_answer(answer));
    DevicePoll poll;
    if (answer.status == status_good) {
        WHEELYARD_ASSIGN(poll.id_token, id_token_of(json));
        return poll;
    }
    const std::string word = word_of(json);
    if (word == "authorization_pending") return poll;
    if (word != "slow_down") return refuse_answer(answer, json);
    poll.longer_by_s = slow_down_s;
    return poll;
}

namespace {

constexpr std::int64_t connect_timeout_ms = 2'000;

io::HttpSettings settings(bool permits_private) {
    io::HttpSettings settings;
    settings.connect_timeout_ms = connect_timeout_ms;
    settings.stall_timeout_ms = fetch_timeout_ms;
    settings.answer_timeout_ms = fetch_timeout_ms;
    settings.total_timeout_ms = fetch_timeout_ms;
    settings.follows_redirects = false;
    settings.uses_environment = false;
    settings.permits_private_hosts = permits_private;
    return settings;
}

}  // namespace

Provider::Fetch fetch_over_network(bool permits_private) {
    return [permits_private](const std::string& url) -> base::Result<std::string> {
        io::HttpClient client(settings(permits_private));
        WHEELYARD_ASSIGN(io::HttpAnswer answer,
                         client.get(url, {{"Accept", "application/json"}}, max_document_bytes));
        if (answer.status == 200) return std::move(answer.body);
        return base::fail_for_now("provider.status", "The provider answers with another status than 200",
                                  std::to_string(answer.status) + " " + url);
    };
}

// The id and the secret are form-encoded before they are joined (RFC 6749, 2.3.1).
Post post_over_network(bool permits_private) {
    return [permits_private](const std::string& url, const Form& form, const std::string& client_id,
                             const std::string& client_secret) -> base::Result<Answer> {
        io::HttpHeaders headers{{"Content-Type", "application/x-www-form-urlencoded"},
                                {"Accept", "application/json"}};
        if (!client_secret.empty())
            headers.emplace_back("Authorization",
                                 "Basic " + base::encode_base64(base::encode_percent(client_id) + ":" +
                                                                base::encode_percent(client_secret)));
        io::HttpClient client(settings(permits_private));
        WHEELYARD_ASSIGN(io::HttpAnswer answer,
                         client.post(url, render_form(form), headers, max_document_bytes));
        return Answer{answer.status, std::move(answer.body)};
    };
}

}  // namespace wheelyard::identity
