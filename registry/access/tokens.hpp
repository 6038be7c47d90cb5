// API tokens and their scopes. `token create` prints a token's text once; the catalog stores only a hash of
// its secret.
//
//     wy_5f0c9a31d2be_<64 hex digits>      id (public, in logs and lists): wy_5f0c9a31d2be
//
// Clients send it as the password of Basic authentication (twine, pip, uv: user `__token__`; the user name is
// ignored) or as `Authorization: Bearer`.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/token_actions.hpp"
#include "lib/store/tasks/task_store.hpp"
#include "registry/access/person.hpp"
#include "registry/http/upload.hpp"

namespace wheelyard::registry {

struct TokenText {
    std::string id;
    std::string secret;
    [[nodiscard]] std::string text() const { return id + "_" + secret; }
};
inline constexpr std::size_t token_id_length = 15;  // "wy_5f0c9a31d2be"
[[nodiscard]] TokenText make_token_text();
[[nodiscard]] std::optional<TokenText> parse_token_text(std::string_view text);
[[nodiscard]] std::string hash_token_secret(std::string_view secret);

// The token in an Authorization header (Basic or Bearer); nullopt if there is none or it is malformed.
[[nodiscard]] std::optional<std::string> token_of_authorization(std::string_view header);

// The token in an Authorization header, or the answer to a client that sent none. Asks no catalog.
[[nodiscard]] wire::Answered<TokenText> token_sent(std::string_view authorization);

using catalog::approve_action;
using catalog::audit_action;
using catalog::build_action;
using catalog::index_action;
using catalog::read_action;
using catalog::task_action;
using catalog::token_action;
using catalog::token_actions;
using catalog::upload_action;

// Says whether the token's scope covers the request. An empty project means "any project in the token's
// scope".
[[nodiscard]] bool allows(const catalog::TokenRow& token, std::string_view index, std::string_view project,
                          std::string_view action);

// "90d", "12h", "30m", "2w" → milliseconds.
[[nodiscard]] base::Result<std::int64_t> parse_lifetime_ms(std::string_view text);

// The authenticated caller: a token of the catalog. One that a person made has the person's name.
struct Identity : catalog::TokenRow {};

// Says whether the caller may report a site's builds and send their logs: an agent's token, which may upload
// to the index or take its tasks, those of all projects unless it enrolled. A job's token only uploads; an
// agent that enrolled speaks for its own site.
[[nodiscard]] bool may_report(const Identity& caller, std::string_view index, std::string_view site);

// Checks credentials against the tokens in the catalog. Every call asks the catalog whether anything has
// changed since the last one (change_count(), microseconds), so that a token revoked by another process is
// refused on the next request.
class TokenVerifier {
  public:
    TokenVerifier(std::unique_ptr<const catalog::Catalog> reader, const base::Clock& clock)
        : reader_(std::move(reader)), clock_(clock) {}
    // People of these [[identity]] tables alone may use their log-ins. Call before the first verify().
    void recognise_people(std::set<std::string, std::less<>> identities) {
        identities_ = std::move(identities);
    }
    // Jobs' tokens of these [[publisher]] tables alone are accepted. Call before the first verify().
    void recognise_publishers(std::set<std::string, std::less<>> publishers) {
        publishers_ = std::move(publishers);
    }
    // Status 401: no credentials; 403: unknown, expired or revoked. Thread-safe.
    [[nodiscard]] wire::Answered<Identity> verify(std::string_view authorization);
    // The same for one who reads the index: also a reading cookie of it (reading_cookie.hpp).
    [[nodiscard]] wire::Answered<Identity> verify_reader(std::string_view authorization,
                                                         std::string_view index);
    // Says whether an agent's code or renewal has this text, in force or not. Status 503: the catalog cannot
    // be read. Thread-safe.
    [[nodiscard]] wire::Answered<bool> knows_credential(const TokenText& text);
    // The names that people see, of those of people's log-ins that are kept, by the name that the audit log
    // has.
    [[nodiscard]] ShownNames shown_names();

  private:
    using Snapshot = std::shared_ptr<const std::vector<catalog::TokenRow>>;
    [[nodiscard]] base::Result<Snapshot> current();
    using IsSent = std::function<bool(const catalog::TokenRow& token)>;
    [[nodiscard]] wire::Answered<Identity> find(const IsSent& is_sent);
    [[nodiscard]] wire::Answered<void> check_row(const catalog::TokenRow& token) const;
    std::set<std::string, std::less<>> identities_;
    std::set<std::string, std::less<>> publishers_;
    std::mutex mutex_;  // guards reader_, changes_ and snapshot_; not held while secrets are compared
    const std::unique_ptr<const catalog::Catalog> reader_;
    const base::Clock& clock_;
    std::int64_t changes_ = 0;
    Snapshot snapshot_;
};

}  // namespace wheelyard::registry
