// Log-ins that have begun and not ended: between the page that leaves for the provider and the page that
// comes back, and while somebody enters the code of a device. What is known of one lies sealed in its
// `state`, which its client and the provider keep: however many strangers begin log-ins, none takes a place
// from anybody. After a restart a log-in is begun again.
//
// What is kept here are the states that have ended, those that a device asked about, and whom providers were
// asked for; each is bounded, and the oldest give way. A state that was forgotten is still used once: the
// provider takes its code once (RFC 6749, 4.1.2).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::identity {

// Thread-safe.
class Seal {
  public:
    Seal();
    [[nodiscard]] std::string close(std::string_view text) const;
    // nullopt: it is not what close() made, or of another object.
    [[nodiscard]] std::optional<std::string> open(std::string_view sealed) const;

  private:
    std::string key_;
};

// What the token is for that the log-in ends with.
enum class Purpose { read, publish };

struct Waiting {
    std::string provider;  // name of its [[identity]]
    Purpose purpose = Purpose::read;
    std::string secret_sha256;  // of the secret of who began it
    std::string verifier;       // PKCE (RFC 7636)
    std::string nonce = {};     // by page
    std::string device = {};    // by device code: the provider's `device_code`
    std::int64_t interval_s = 0;
    base::UnixMicros asked = 0;  // of the provider, for this device
    base::UnixMicros until = 0;
};

// Thread-safe. `state` is what begin() made.
class WaitingLogins {
  public:
    [[nodiscard]] std::string begin(const Waiting& login) const;
    // As take(), and it stays: a device asks many times.
    [[nodiscard]] base::Result<Waiting> look(const std::string& state, const std::string& secret,
                                             base::UnixMicros now);
    // Notes that its provider is asked now. False: that was less than its interval ago.
    [[nodiscard]] bool ask(const std::string& state, const Waiting& login, base::UnixMicros now);
    // Its provider wants to be asked less often.
    void slow_down(const std::string& state, std::int64_t interval_s);
    // Ends it, also by a wrong secret. Errors of kind missing, "login.state": unknown, used or too old; of
    // kind refused, "login.another_browser".
    [[nodiscard]] base::Result<Waiting> take(const std::string& state, const std::string& secret,
                                             base::UnixMicros now);
    // Notes that a provider is asked to begin a log-in for the client of this address. False: it was asked
    // too often for it.
    [[nodiscard]] bool ask_for(const std::string& client, base::UnixMicros now);

  private:
    struct Device {
        base::UnixMicros asked = 0;
        std::int64_t interval_s = 0;
    };
    struct Asked {
        std::string client;
        base::UnixMicros at = 0;
    };
    // Called with the lock held.
    [[nodiscard]] base::Result<Waiting> find(const std::string& state, const std::string& secret,
                                             base::UnixMicros now);
    void note_end(const std::string& state);
    [[nodiscard]] Device& device_of(const std::string& state, const Waiting& login);

    const Seal seal_;
    std::mutex mutex_;
    std::map<std::string, Device> devices_;  // by state
    std::deque<std::string> of_devices_;     // in the order of their first question
    std::set<std::string> ended_;
    std::deque<std::string> of_ended_;
    std::deque<Asked> asked_;
};

}  // namespace wheelyard::identity
