#include "registry/identity/waiting.hpp"

#include <algorithm>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "registry/identity/limits.hpp"

namespace wheelyard::identity {

base::Status WaitingLogins::add(const std::string& key, Waiting login, base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [&](const auto& entry) { return entry.second.until <= now; });
    const auto of_network = std::count_if(waiting_.begin(), waiting_.end(), [&](const auto& entry) {
        return entry.second.network == login.network;
    });
    if (waiting_.size() >= max_waiting || static_cast<std::size_t>(of_network) >= max_waiting_of_network)
        return base::fail_as(base::ErrorKind::exhausted, base::Recovery::retry,
                             {"login.busy", "Too many log-ins have begun and not ended",
                              std::to_string(waiting_.size()), "try again in ten minutes"});
    waiting_.emplace(key, std::move(login));
    return {};
}

base::Result<WaitingLogins::Place> WaitingLogins::find(const std::string& key, const std::string& secret,
                                                       base::UnixMicros now) {
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
    if (base::equals_in_constant_time(base::sha256_hex(secret), found->second.secret_sha256)) return found;
    waiting_.erase(found);
    return base::fail_as(base::ErrorKind::refused, base::Recovery::never,
                         {"login.another_browser",
                          "Another browser or program began this log-in",
                          {},
                          "log in again, and follow no link that somebody sent you"});
}

base::Result<Waiting> WaitingLogins::take(const std::string& key, const std::string& secret,
                                          base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    WHEELYARD_ASSIGN(const Place place, find(key, secret, now));
    Waiting login = std::move(place->second);
    waiting_.erase(place);
    return login;
}

base::Result<Waiting> WaitingLogins::look(const std::string& key, const std::string& secret,
                                          base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    WHEELYARD_ASSIGN(const Place place, find(key, secret, now));
    return place->second;
}

bool WaitingLogins::ask(const std::string& key, base::UnixMicros now) {
    constexpr base::UnixMicros second = 1'000'000;
    const std::lock_guard lock(mutex_);
    const auto found = waiting_.find(key);
    if (found == waiting_.end() || now - found->second.asked < found->second.interval_s * second)
        return false;
    found->second.asked = now;
    return true;
}

void WaitingLogins::replace(const std::string& key, Waiting login) {
    const std::lock_guard lock(mutex_);
    if (const auto found = waiting_.find(key); found != waiting_.end()) found->second = std::move(login);
}

}  // namespace wheelyard::identity
