// Tokens: who may do what. A token's text is shown once, when it is made; the catalog holds only the hash of
// its secret.
//
//     wy_5f0c9a31d2be_<64 hex digits>      id (public, in logs and lists): wy_5f0c9a31d2be
//
// Sent as the password of Basic authentication (twine, pip, uv: user `__token__`; any user name is accepted,
// the token alone counts) or as `Authorization: Bearer`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/http/upload.hpp"
#include "registry/tasks/task_store.hpp"

namespace wheelyard::registry {

struct TokenText {
    std::string id;
    std::string secret;
    [[nodiscard]] std::string text() const { return id + "_" + secret; }
};
inline constexpr std::size_t token_id_length = 15;  // of "wy_5f0c9a31d2be"
[[nodiscard]] TokenText make_token_text();
[[nodiscard]] std::optional<TokenText> parse_token_text(std::string_view text);
[[nodiscard]] std::string hash_token_secret(std::string_view secret);

// The token that an Authorization header carries; nullopt when there is none that we understand.
[[nodiscard]] std::optional<std::string> token_of_authorization(std::string_view header);

inline constexpr std::string_view upload_action = "upload";
inline constexpr std::string_view audit_action = "audit";
inline constexpr std::string_view build_action = "build";       // claims tasks of its indexes
inline constexpr std::string_view task_action = "task";         // asks for tasks, and cancels them
[[nodiscard]] const std::vector<std::string>& token_actions();  // all that exist

// Whether a token's scope covers it; an empty project asks for "any project at all".
[[nodiscard]] bool allows(const catalog::TokenRow& token, std::string_view index, std::string_view project,
                          std::string_view action);

// "90d", "12h", "30m", "2w" → milliseconds.
[[nodiscard]] base::Result<std::int64_t> parse_lifetime_ms(std::string_view text);

// Whom credentials name: a token of the catalog, or the grant of a claimed task, which has the name of the
// token that claimed, for nobody promotes what he uploaded.
struct Identity : catalog::TokenRow {
    std::string version = {};  // of a grant: the only one that it may upload
    bool is_grant = false;     // for one file, and only until its lease ends (tasks/task_store.hpp)
};

// Checks credentials against the tokens in the catalog. Every call asks SQLite whether another connection has
// committed since (PRAGMA data_version, microseconds), so that a token revoked by a command in another
// process is refused on the next request.
class TokenVerifier {
  public:
    [[nodiscard]] static base::Result<std::unique_ptr<TokenVerifier>> open(
        const std::filesystem::path& catalog_file, const base::Clock& clock);
    // Before the first verify(): grants of this queue are credentials, too. It outlives the verifier.
    void recognise_grants(tasks::TaskStore& tasks) { tasks_ = &tasks; }
    // 401: no credentials; 403: unknown, expired or revoked. Thread-safe.
    [[nodiscard]] wire::Answered<Identity> verify(std::string_view authorization);

  private:
    using Snapshot = std::shared_ptr<const std::vector<catalog::TokenRow>>;
    TokenVerifier(catalog::Catalog catalog, const base::Clock& clock)
        : catalog_(std::move(catalog)), clock_(clock) {}
    [[nodiscard]] base::Result<Snapshot> current();
    [[nodiscard]] wire::Answered<void> check_row(const catalog::TokenRow& token) const;
    [[nodiscard]] wire::Answered<Identity> verify_grant(const TokenText& sent, std::string_view secret_sha256,
                                                        const std::vector<catalog::TokenRow>& tokens);
    tasks::TaskStore* tasks_ = nullptr;
    std::mutex mutex_;  // of catalog_, version_ and snapshot_; never held while a secret is compared
    catalog::Catalog catalog_;
    const base::Clock& clock_;
    std::int64_t version_ = 0;
    Snapshot snapshot_;
};

}  // namespace wheelyard::registry
