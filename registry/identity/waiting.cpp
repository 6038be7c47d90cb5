#include "registry/identity/waiting.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/io/json.hpp"
#include "registry/identity/limits.hpp"

namespace wheelyard::identity {
namespace {

std::string render_waiting(const Waiting& login) {
    return io::Json::object({{"provider", login.provider},
                             {"publishes", login.purpose == Purpose::publish},
                             {"secret", login.secret_sha256},
                             {"verifier", login.verifier},
                             {"nonce", login.nonce},
                             {"device", login.device},
                             {"interval_s", login.interval_s},
                             {"asked", login.asked},
                             {"until", login.until}})
        .render();
}

std::optional<Waiting> parse_waiting(const std::string& text) {
    const auto json = io::parse_json(text);
    if (!json) return std::nullopt;
    return Waiting{.provider = json->string_or("provider", ""),
                   .purpose = json->bool_or("publishes", false) ? Purpose::publish : Purpose::read,
                   .secret_sha256 = json->string_or("secret", ""),
                   .verifier = json->string_or("verifier", ""),
                   .nonce = json->string_or("nonce", ""),
                   .device = json->string_or("device", ""),
                   .interval_s = json->int_or("interval_s", 0),
                   .asked = json->int_or("asked", 0),
                   .until = json->int_or("until", 0)};
}

}  // namespace

std::string WaitingLogins::begin(const Waiting& login) const {
    return seal_.close(render_waiting(login));
}

base::Result<Waiting> WaitingLogins::find(const std::string& state, const std::string& secret,
                                          base::UnixMicros now) {
    const auto text = seal_.open(state);
    const auto login = text ? parse_waiting(*text) : std::nullopt;
    if (!login || login->until <= now || ended_.contains(state))
        return base::fail_as(base::ErrorKind::missing, base::Recovery::never,
                             {"login.state",
                              "This log-in is unknown, has ended, or took longer than ten minutes",
                              {},
                              "log in again"});
    if (base::equals_in_constant_time(base::sha256_hex(secret), login->secret_sha256)) return *login;
    note_end(state);
    return base::fail_as(base::ErrorKind::refused, base::Recovery::never,
                         {"login.another_browser",
                          "Another browser or program began this log-in",
                          {},
                          "log in again, and follow no link that somebody sent you"});
}

void WaitingLogins::note_end(const std::string& state) {
    if (!ended_.insert(state).second) return;
    of_ended_.push_back(state);
    if (of_ended_.size() <= max_noted_logins) return;
    ended_.erase(of_ended_.front());
    of_ended_.pop_front();
}

base::Result<Waiting> WaitingLogins::take(const std::string& state, const std::string& secret,
                                          base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    WHEELYARD_ASSIGN(Waiting login, find(state, secret, now));
    note_end(state);
    return login;
}

base::Result<Waiting> WaitingLogins::look(const std::string& state, const std::string& secret,
                                          base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    WHEELYARD_ASSIGN(Waiting login, find(state, secret, now));
    if (const auto device = devices_.find(state); device != devices_.end())
        login.interval_s = device->second.interval_s;
    return login;
}

WaitingLogins::Device& WaitingLogins::device_of(const std::string& state, const Waiting& login) {
    const auto [device, is_first] = devices_.emplace(state, Device{login.asked, login.interval_s});
    if (!is_first) return device->second;
    of_devices_.push_back(state);
    if (of_devices_.size() > max_noted_logins) {
        devices_.erase(of_devices_.front());
        of_devices_.pop_front();
    }
    return device->second;
}

bool WaitingLogins::ask(const std::string& state, const Waiting& login, base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    Device& device = device_of(state, login);
    if (now - device.asked < device.interval_s * base::second_us) return false;
    device.asked = now;
    return true;
}

void WaitingLogins::slow_down(const std::string& state, std::int64_t interval_s) {
    const std::lock_guard lock(mutex_);
    if (const auto device = devices_.find(state); device != devices_.end())
        device->second.interval_s = interval_s;
}

bool WaitingLogins::ask_for(const std::string& client, base::UnixMicros now) {
    const std::lock_guard lock(mutex_);
    while (!asked_.empty() && asked_.front().at + asked_window_s * base::second_us <= now)
        asked_.pop_front();
    const auto of_client =
        std::count_if(asked_.begin(), asked_.end(), [&](const Asked& one) { return one.client == client; });
    if (static_cast<std::size_t>(of_client) >= max_asked_for_client) return false;
    if (asked_.size() >= max_noted_logins) asked_.pop_front();
    asked_.push_back({client, now});
    return true;
}

}  // namespace wheelyard::identity
