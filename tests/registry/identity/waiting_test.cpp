// Log-ins that have begun: each is taken once, by who began it, within ten minutes.
#include "registry/identity/waiting.hpp"

#include <doctest/doctest.h>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "registry/identity/limits.hpp"

using namespace wheelyard;
using identity::Waiting;
using identity::WaitingLogins;

namespace {

constexpr base::UnixMicros begin = 1'795'700'000'000'000;
constexpr base::UnixMicros life = identity::waiting_life_s * 1'000'000;

Waiting begun() {
    return {.provider = "campus",
            .purpose = identity::Purpose::publish,
            .secret_sha256 = base::sha256_hex("mine"),
            .verifier = "v",
            .nonce = "n",
            .until = begin + life};
}

}  // namespace

TEST_CASE("a log-in is taken once, by the secret of who began it, with all that was known of it") {
    WaitingLogins logins;
    const std::string state = logins.begin(begun());
    CHECK(logins.take("other", "mine", begin).error().code == "login.state");
    const auto taken = logins.take(state, "mine", begin);
    REQUIRE(taken.has_value());
    CHECK(taken->provider == "campus");
    CHECK(taken->purpose == identity::Purpose::publish);
    CHECK(taken->verifier == "v");
    CHECK(taken->nonce == "n");
    CHECK(logins.take(state, "mine", begin).error().code == "login.state");
}

TEST_CASE("a state says nothing to who keeps it, and is of this process as it is") {
    const WaitingLogins logins;
    const std::string state = logins.begin(begun());
    CHECK(state != logins.begin(begun()));
    const std::string bytes = base::decode_base64url(state).value();
    for (const char* word : {"campus", "verifier", "until"})
        CHECK(bytes.find(word) == std::string::npos);
    WaitingLogins here;
    CHECK(here.take(state, "mine", begin).error().code == "login.state");  // another one's
    const std::string own = here.begin(begun());
    for (std::size_t at = 0; at < own.size(); ++at) {
        std::string changed = own;
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        CAPTURE(at);
        CHECK(here.take(changed, "mine", begin).error().code == "login.state");
    }
    for (const std::string& cut : {std::string(), own.substr(0, 20), own.substr(0, own.size() - 4),
                                   own + "AAAA", own + "=", own + "=="})
        CHECK(here.take(cut, "mine", begin).error().code == "login.state");
    CHECK(here.take(own, "mine", begin).has_value());
}

TEST_CASE("another browser is refused, and ends the log-in") {
    WaitingLogins logins;
    const std::string state = logins.begin(begun());
    CHECK(logins.take(state, "theirs", begin).error().code == "login.another_browser");
    CHECK(logins.take(state, "mine", begin).error().code == "login.state");
}

TEST_CASE("after ten minutes a log-in has to begin again") {
    WaitingLogins logins;
    const std::string state = logins.begin(begun());
    CHECK(logins.look(state, "mine", begin + life - 1).has_value());
    CHECK(logins.take(state, "mine", begin + life).error().code == "login.state");
}

TEST_CASE("log-ins that nobody ends take no place, and ended ones stay ended while few others end") {
    WaitingLogins logins;
    const std::string first = logins.begin(begun());
    const std::string ended = logins.begin(begun());
    REQUIRE(logins.take(ended, "mine", begin));
    for (std::size_t i = 1; i < identity::max_noted_logins; ++i)
        CHECK(logins.take(logins.begin(begun()), "theirs", begin).error().code == "login.another_browser");
    CHECK(logins.take(ended, "mine", begin).error().code == "login.state");
    CHECK(logins.take(first, "mine", begin).has_value());
}

TEST_CASE("a device asks as often as its interval permits, also while many others ask") {
    WaitingLogins logins;
    Waiting device = begun();
    device.device = "d";
    device.interval_s = 5;
    device.asked = begin;
    const std::string state = logins.begin(device);
    constexpr base::UnixMicros second = 1'000'000;
    CHECK_FALSE(logins.ask(state, device, begin + 5 * second - 1));
    CHECK(logins.ask(state, device, begin + 5 * second));
    CHECK_FALSE(logins.ask(state, device, begin + 5 * second));  // another request of the same device
    logins.slow_down(state, 10);
    CHECK(logins.look(state, "mine", begin)->interval_s == 10);
    CHECK_FALSE(logins.ask(state, device, begin + 10 * second));
    CHECK(logins.ask(state, device, begin + 15 * second));
    for (std::size_t i = 0; i < identity::max_noted_logins; ++i)
        CHECK(logins.ask(logins.begin(device), device, begin + 5 * second));
    CHECK(logins.ask(state, device, begin + 16 * second));  // forgotten: the oldest gives way
    CHECK(logins.take(state, "mine", begin).has_value());
    CHECK(logins.look(state, "mine", begin).error().code == "login.state");
}

TEST_CASE("who looks with another secret ends the log-in") {
    WaitingLogins logins;
    const std::string state = logins.begin(begun());
    CHECK(logins.look(state, "theirs", begin).error().code == "login.another_browser");
    CHECK(logins.look(state, "mine", begin).error().code == "login.state");
}

TEST_CASE(
    "a provider is asked a bounded number of times a minute for one address, and for others all the same") {
    WaitingLogins logins;
    for (std::size_t i = 0; i < identity::max_asked_for_client; ++i)
        REQUIRE(logins.ask_for("192.0.2.1", begin));
    CHECK_FALSE(logins.ask_for("192.0.2.1", begin));
    CHECK(logins.ask_for("192.0.2.2", begin));
    for (std::size_t i = 0; i < 2 * identity::max_noted_logins; ++i)
        CHECK(logins.ask_for("stranger " + std::to_string(i), begin));
    CHECK(logins.ask_for("192.0.2.3", begin));
    for (std::size_t i = 0; i < identity::max_asked_for_client; ++i)
        REQUIRE(logins.ask_for("192.0.2.4", begin));
    CHECK_FALSE(logins.ask_for("192.0.2.4", begin + identity::asked_window_s * 1'000'000 - 1));
    CHECK(logins.ask_for("192.0.2.4", begin + identity::asked_window_s * 1'000'000));
}
