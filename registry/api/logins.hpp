// Log-ins of people, as long as the server runs: the providers of the configuration, also those of
// publishers, and the log-ins that wait.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/commit/writer.hpp"
#include "registry/access/tokens.hpp"
#include "registry/config/config.hpp"
#include "registry/config/publisher_config.hpp"
#include "registry/http/api.hpp"
#include "registry/http/limits.hpp"
#include "registry/identity/exchange.hpp"
#include "registry/identity/provider.hpp"
#include "registry/identity/token.hpp"
#include "registry/identity/waiting.hpp"

namespace wheelyard::registry {

// Requests to providers: each may hold a thread for seconds. Of one network one of each kind.
inline constexpr std::size_t max_running_logins = http::provider_threads - 4;
inline constexpr std::size_t max_running_logins_of_a_kind = 8;  // so that devices leave pages some
// Of them, of networks whose last log-in came to nothing within login_memory_s: a flood leaves the rest to
// others.
inline constexpr std::size_t max_running_logins_of_failed = 4;
inline constexpr std::int64_t login_memory_s = 60;

// Requests to providers that run now: they are on threads that others wait for. Thread-safe.
class RunningLogins {
  public:
    enum class Kind { page, device };
    // False: as many run as may, of this network, of those whose last log-in came to nothing, or of all.
    [[nodiscard]] bool enter(Kind kind, const std::string& network, base::UnixMicros now);
    // `has_token`: it ended with one. Until then the network counts as one whose log-ins come to nothing.
    void leave(Kind kind, const std::string& network, bool has_token, base::UnixMicros now);

  private:
    using Asker = std::pair<Kind, std::string>;  // a network
    [[nodiscard]] bool has_failed(const Asker& asker, base::UnixMicros now) const;

    std::mutex mutex_;
    std::map<Asker, bool> running_;             // whether it had failed
    std::map<Asker, base::UnixMicros> failed_;  // when
};

// The secret of a confidential client. "login.secret_mode": others than its owner may read or change the
// file, apart from a group that reads it.
[[nodiscard]] base::Result<std::string> read_client_secret(const std::filesystem::path& file);

// Thread-safe. The clock outlives it.
class Logins {
  public:
    struct Network {
        identity::Provider::Fetch fetch;
        identity::Post post;
    };
    using NetworkOf = std::function<Network(const identity::ProviderRules& rules)>;
    struct Known {
        IdentityConfig config;
        std::unique_ptr<identity::Provider> provider;
        identity::Post post;
    };
    Logins(const RegistryConfig& config, const base::Clock& clock, const NetworkOf& network);

    [[nodiscard]] const std::vector<Known>& all() const { return known_; }
    // nullptr: there is no such [[identity]].
    [[nodiscard]] const Known* find(std::string_view name) const;
    // The provider of an [[identity]] or a [[publisher]]; nullptr: the configuration has no such issuer.
    [[nodiscard]] identity::Provider* find_issuer(std::string_view issuer) const;
    // Where the provider sends browsers back to: one address for each.
    [[nodiscard]] std::string redirect_of(const Known& known) const;
    // The page of log-ins.
    [[nodiscard]] std::string page() const;
    // Fetches the documents of providers that are due. Called on a thread of its own, every second or so.
    void fetch_due() const;
    [[nodiscard]] identity::WaitingLogins& waiting() { return waiting_; }
    [[nodiscard]] RunningLogins& running() { return running_; }

  private:
    const std::string public_url_;
    std::vector<Known> known_;
    std::vector<std::unique_ptr<identity::Provider>> of_publishers_;  // by which nobody logs in
    identity::WaitingLogins waiting_;
    RunningLogins running_;
};

// The scope that the rules give to a person of these groups, of `known_indexes` only: the first rule that
// fits, with what further ones add exactly. Empty actions: none fits. Pure.
[[nodiscard]] AllowRule scope_of(const std::vector<AllowRule>& rules, const std::vector<std::string>& groups,
                                 identity::Purpose purpose, const std::vector<std::string>& known_indexes);

// A claim that is not what a [[publisher]] wants.
struct UnmetClaim {
    std::string name;
    std::string value = {};   // of the token; empty: it has none, or no text
    std::string wanted = {};  // empty: no job of a pull request
    bool operator==(const UnmetClaim&) const = default;
};
// Every claim of the token that does not fit; empty: the job may publish. Pure.
[[nodiscard]] std::vector<UnmetClaim> unmet_claims(const PublisherConfig& publisher, const io::Json& claims);

}  // namespace wheelyard::registry
