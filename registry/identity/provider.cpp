#include "registry/identity/provider.hpp"

#include <chrono>
#include <cstdint>
#include <utility>

#include "lib/io/json.hpp"
#include "registry/identity/limits.hpp"

namespace wheelyard::identity {
namespace {

constexpr std::int64_t fetch_pause_s = 60;      // between two fetches of one provider, whatever tokens say
constexpr std::int64_t documents_life_s = 600;  // then they are fetched again: a key may have been withdrawn

constexpr std::size_t max_document_depth = 8;

// As text, and as a URL that is one.
base::Result<std::string> address_at(const io::Json& json, std::string_view name,
                                     const ProviderRules& rules) {
    const std::string text = json.string_or(name, "");
    if (text.empty())
        return base::fail_malformed("provider.document", "The provider's description lacks an address",
                                    std::string(name));
    WHEELYARD_TRY(check_address(rules, text));
    return text;
}

}  // namespace

std::string discovery_url(const std::string& issuer) {
    return issuer + (issuer.ends_with('/') ? "" : "/") + ".well-known/openid-configuration";
}

base::Status check_address(const ProviderRules& rules, const std::string& url) {
    const auto refuse = [&](std::string sentence, std::string advice) {
        return base::fail_as(base::ErrorKind::refused, base::Recovery::person,
                             {"provider.address", std::move(sentence), url, std::move(advice)});
    };
    const auto parsed = base::parse_url(url);
    const bool is_web = parsed && (parsed->scheme == "https" || parsed->scheme == "http") &&
                        !parsed->host.empty() && parsed->userinfo.empty() && parsed->fragment.empty();
    if (!is_web) return refuse("An address of the provider is no URL of the web", "");
    if (parsed->scheme == "http" && !rules.allow_http)
        return refuse("An address of the provider is not https", "allow_http = true permits it, for tests");
    const auto issuer = base::parse_url(rules.issuer);
    const bool is_own =
        issuer && parsed->scheme == issuer->scheme && parsed->host_and_port() == issuer->host_and_port();
    if (is_own || base::names_host(rules.hosts, *parsed)) return {};
    return refuse("An address of the provider is on a host that is not configured",
                  "add it to `hosts` of its table if you trust it");
}

base::Result<Endpoints> parse_discovery(std::string_view document, const ProviderRules& rules) {
    const auto json =
        io::parse_strict_json(document, {.bytes = max_document_bytes, .depth = max_document_depth});
    if (!json)
        return base::fail_malformed("provider.document",
                                    "The provider's description cannot be read: " + json.error().sentence);
    if (const std::string issuer = json->string_or("issuer", ""); issuer != rules.issuer)
        return base::fail_malformed("provider.issuer", "The provider describes another issuer",
                                    issuer.substr(0, 200), "`issuer` is compared letter by letter");
    Endpoints found;
    WHEELYARD_ASSIGN(found.keys, address_at(*json, "jwks_uri", rules));
    if (!rules.has_logins) return found;
    WHEELYARD_ASSIGN(found.authorization, address_at(*json, "authorization_endpoint", rules));
    WHEELYARD_ASSIGN(found.token, address_at(*json, "token_endpoint", rules));
    if (json->find("device_authorization_endpoint") != nullptr) {
        WHEELYARD_ASSIGN(found.device, address_at(*json, "device_authorization_endpoint", rules));
    }
    found.names_itself = json->bool_or("authorization_response_iss_parameter_supported", false);
    return found;
}

std::shared_ptr<const Described> Provider::now() const {
    const std::lock_guard lock(mutex_);
    return now_;
}

bool Provider::may_fetch() const {
    return tried_ == 0 || clock_.now() - tried_ >= fetch_pause_s * 1'000'000;
}

bool Provider::is_due() const {
    const std::lock_guard lock(mutex_);
    if (!may_fetch()) return false;
    return is_wanted_ || now_ == nullptr || clock_.now() - tried_ >= documents_life_s * 1'000'000;
}

base::Result<Described> Provider::fetch_documents() const {
    const base::UnixMicros asked = clock_.now();
    WHEELYARD_TRY(check_address(rules_, discovery_url(rules_.issuer)));
    WHEELYARD_ASSIGN(const std::string description, fetch_(discovery_url(rules_.issuer)));
    WHEELYARD_ASSIGN(Endpoints endpoints, parse_discovery(description, rules_));
    WHEELYARD_ASSIGN(const std::string document, fetch_(endpoints.keys));
    WHEELYARD_ASSIGN(KeySet keys, KeySet::parse(document));
    return Described{std::move(endpoints), std::move(keys), asked};
}

base::Status Provider::fetch() {
    {
        const std::lock_guard lock(mutex_);
        tried_ = clock_.now();
        is_wanted_ = false;
    }
    auto documents = fetch_documents();
    const std::lock_guard lock(mutex_);
    ++fetches_;
    fetched_.notify_all();
    if (!documents) return tl::unexpected(std::move(documents.error()));
    now_ = std::make_shared<const Described>(*std::move(documents));
    return {};
}

base::Result<Claims> Provider::verify(std::string_view token, const Expected& expected,
                                      std::int64_t wait_ms) {
    const auto attempt = [&]() -> base::Result<Claims> {
        const auto described = now();
        if (described == nullptr)
            return base::fail_for_now("provider.unknown", "The provider has not described itself yet",
                                      rules_.issuer, "try again in a minute");
        auto claims = verify_token(token, described->keys, expected, clock_.now() / 1'000'000);
        // A missing key is the one failure that new documents can cure, if the token is not older than these.
        if (claims || claims.error().kind != base::ErrorKind::missing) return claims;
        const auto claimed = claimed_by(token);
        if (!claimed || claimed->issued_s + clock_skew_s < described->asked / 1'000'000) return claims;
        return base::fail_as(base::ErrorKind::missing, base::Recovery::retry,
                             {"provider.new_key", "The provider's new key has not been fetched yet",
                              claims.error().value, "try again in a minute"});
    };
    auto claims = attempt();
    if (claims || claims.error().kind != base::ErrorKind::missing || !claims.error().may_pass())
        return claims;
    std::unique_lock lock(mutex_);
    is_wanted_ = true;
    if (!may_fetch()) return claims;
    const std::uint64_t before = fetches_;
    fetched_.wait_for(lock, std::chrono::milliseconds(wait_ms), [&] { return fetches_ != before; });
    lock.unlock();
    return attempt();
}

}  // namespace wheelyard::identity
