#include "registry/identity/waiting.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "registry/identity/limits.hpp"

namespace wheelyard::identity {

base::Status WaitingLogins::add(const std::string& key, Waiting login, base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](const auto& entry) { return entry.second.until <= now; });
    const auto of_client = std::count_if(waiting_.begin(), waiting_.end(), [&](const auto& entry) {
        return entry.second.client == login.client;
    });
    if (waiting_.size() >= max_waiting || static_cast<std::size_t>(of_client) >= max_waiting_of_client)
        return base::fail_as(base::ErrorKind::exhausted, base::Recovery::retry,
                             {"login.busy", "Too many log-ins have begun and not ended",
                              std::to_string(waiting_.size()), "try again in ten minutes"});
    waiting_.emplace(key, std::move(login));
    return {};
}

base::Result<Waiting> WaitingLogins::take(const std::string& key, const std::string& secret,
                                          base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(key);
    const bool is_there = found != waiting_.end() && found->second.until > now;
    if (!is_there) {
        if (found != waiting_.end()) waiting_.erase(found);
        return base::fail_as(base::ErrorKind::missing, base::Recovery::never,
                             {"login.state",
                              "This log-in is unknown, has ended, or took longer than ten minutes",
                              {},
                              "log in again"});
    }
    Waiting login = std::move(found->second);
    waiting_.erase(found);
    if (!base::equals_in_constant_time(base::sha256_hex(secret), login.secret_sha256))
        return base::fail_as(base::ErrorKind::refused, base::Recovery::never,
                             {"login.another_browser",
                              "Another browser or program began this log-in",
                              {},
                              "log in again, and follow no link that somebody sent you"});
    return login;
}

}  // namespace wheelyard::identity
