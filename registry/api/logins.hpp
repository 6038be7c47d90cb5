// Log-ins of people, as long as the server runs: the providers of the configuration and the log-ins that wait.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "registry/config/config.hpp"
#include "registry/identity/exchange.hpp"
#include "registry/identity/provider.hpp"
#include "registry/identity/waiting.hpp"

namespace wheelyard::registry {

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
    // Where the provider sends browsers back to: one address for each.
    [[nodiscard]] std::string redirect_of(const Known& known) const;
    // The page of log-ins.
    [[nodiscard]] std::string page() const;
    // Fetches the documents of providers that are due. Called on a thread of its own, every second or so.
    void fetch_due() const;
    [[nodiscard]] identity::WaitingLogins& waiting() { return waiting_; }
    // Requests to providers that run now hold a slot each: they are on threads that others wait for.
    [[nodiscard]] std::atomic<int>& running() { return running_; }

  private:
    const std::string public_url_;
    std::vector<Known> known_;
    identity::WaitingLogins waiting_;
    std::atomic<int> running_ = 0;
};

// The scope that the rules give to a person of these groups, of `known_indexes` only: the first rule that fits, with what
// further ones add exactly. Empty actions: none fits. Pure.
[[nodiscard]] AllowRule scope_of(const std::vector<AllowRule>& rules, const std::vector<std::string>& groups,
                                 identity::Purpose purpose, const std::vector<std::string>& known_indexes);

}  // namespace wheelyard::registry
