// A provider: the document that describes it (OpenID Connect Discovery 1.0, 3), its keys, and when they are
// fetched again.
//
// No request waits for a provider's documents: a thread of the registry fetches them when the server starts,
// every ten minutes, and where a token names a key that is not known, at most once a minute: until then a
// token that may be newer than the keys is refused for now only. What was fetched stays in use while the
// provider does not answer.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/base/text/url.hpp"
#include "registry/identity/key_set.hpp"
#include "registry/identity/token.hpp"

namespace wheelyard::identity {

// What the configuration says of a provider.
struct ProviderRules {
    std::string issuer;           // exact text, as its tokens have it
    std::string client_id;        // ours there
    std::set<std::string> hosts;  // "host" or "host:port" of its addresses, besides the issuer's own
    bool allow_http = false;      // plain http, for tests
    bool allow_private = false;   // addresses inside the site
    bool has_logins = true;       // people log in by it; else its keys alone are needed
    bool operator==(const ProviderRules&) const = default;
};

// Its addresses. Those of log-in by page are there wherever people log in.
struct Endpoints {
    std::string authorization;
    std::string token;
    std::string keys;
    std::string device = {};    // empty: it has no log-in by device code
    bool names_itself = false;  // its redirects have `iss` (RFC 9207)
};

// Where its documents are: ISSUER/.well-known/openid-configuration.
[[nodiscard]] std::string discovery_url(const std::string& issuer);
// Says whether a request may go to `url`: https, or http where the rules permit it, to the issuer's host or
// one of `hosts`. Error "provider.address".
[[nodiscard]] base::Status check_address(const ProviderRules& rules, const std::string& url);
// Errors "provider.document", "provider.issuer", "provider.address".
[[nodiscard]] base::Result<Endpoints> parse_discovery(std::string_view document, const ProviderRules& rules);

// One state of a provider; never changed.
struct Described {
    Endpoints endpoints;
    KeySet keys;
    base::UnixMicros asked = 0;  // when it was fetched, at the earliest
};

// Thread-safe.
class Provider {
  public:
    // Fetches a document of at most max_document_bytes; bounded in time.
    using Fetch = std::function<base::Result<std::string>(const std::string& url)>;
    Provider(ProviderRules rules, Fetch fetch, const base::Clock& clock)
        : rules_(std::move(rules)), fetch_(std::move(fetch)), clock_(clock) {}
    [[nodiscard]] const ProviderRules& rules() const { return rules_; }
    // nullptr: nothing was fetched yet.
    [[nodiscard]] std::shared_ptr<const Described> now() const;
    // Says whether to fetch: wanted, never fetched, or after documents_life_s; never within fetch_pause_s of
    // the last.
    [[nodiscard]] bool is_due() const;
    // Fetches both documents, on the caller's thread. After an error the earlier ones stay in use.
    base::Status fetch();
    // Verifies with the keys at hand. Of a key that is not known, they are wanted again, and this waits for
    // them until `wait_ms` have passed, if they may be fetched now. Errors: those of verify_token(); for now
    // "provider.unknown", where nothing was fetched yet, and "provider.new_key", where the token may be
    // newer.
    [[nodiscard]] base::Result<Claims> verify(std::string_view token, const Expected& expected,
                                              std::int64_t wait_ms);

  private:
    [[nodiscard]] base::Result<Described> fetch_documents() const;
    [[nodiscard]] bool may_fetch() const;  // with mutex_

    const ProviderRules rules_;
    const Fetch fetch_;
    const base::Clock& clock_;
    mutable std::mutex mutex_;  // guards the rest; not held during a fetch
    std::condition_variable fetched_;
    std::shared_ptr<const Described> now_;
    base::UnixMicros tried_ = 0;  // when the last fetch began; 0: never
    std::uint64_t fetches_ = 0;   // that ended
    bool is_wanted_ = false;
};

}  // namespace wheelyard::identity
