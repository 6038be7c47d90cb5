// Log-ins that have begun and not ended: between the page that leaves for the provider and the page that comes back, and
// while somebody enters the code of a device. In memory only: after a restart a log-in is begun again. Pure, with the time given.
//
// A waiting log-in is taken once, and only with the secret of the page or program that began it.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::identity {

// What the token is for that the log-in ends with.
enum class Purpose { read, publish };

struct Waiting {
    std::string provider;  // name of its [[identity]]
    Purpose purpose = Purpose::read;
    std::string secret_sha256;  // of the secret of who began it
    std::string network;        // of its client, for the limit
    std::string verifier;       // PKCE (RFC 7636)
    std::string nonce = {};     // by page
    std::string device = {};    // by device code: the provider's `device_code`
    std::int64_t interval_s = 0;
    base::UnixMicros asked = 0;  // of the provider, for this device
    base::UnixMicros until = 0;
};

// Thread-safe.
class WaitingLogins {
  public:
    // Errors of kind exhausted, "login.busy": too many wait, in all or of this network.
    [[nodiscard]] base::Status add(const std::string& key, Waiting login, base::UnixMicros now);
    // As take(), and it stays: a device asks many times.
    [[nodiscard]] base::Result<Waiting> look(const std::string& key, const std::string& secret,
                                             base::UnixMicros now);
    // Notes that its provider is asked now. False: that was less than its interval ago, or it has ended.
    [[nodiscard]] bool ask(const std::string& key, base::UnixMicros now);
    // What is known of it now, in its place; nothing, if it has ended.
    void replace(const std::string& key, Waiting login);
    // Removes it: a state is used once, also by a wrong secret. Errors of kind missing, "login.state": unknown, used or too
    // old; of kind refused, "login.another_browser".
    [[nodiscard]] base::Result<Waiting> take(const std::string& key, const std::string& secret,
                                             base::UnixMicros now);

  private:
    using Place = std::map<std::string, Waiting>::iterator;
    // Called with the lock held.
    [[nodiscard]] base::Result<Place> find(const std::string& key, const std::string& secret,
                                           base::UnixMicros now);
    std::mutex mutex_;
    std::map<std::string, Waiting> waiting_;
};

}  // namespace wheelyard::identity
