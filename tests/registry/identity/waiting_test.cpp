// Log-ins that have begun: each is taken once, by who began it, within ten minutes.
#include "registry/identity/waiting.hpp"

#include <doctest/doctest.h>

#include "lib/base/digest/digest.hpp"
#include "registry/identity/limits.hpp"

using namespace wheelyard;
using identity::Waiting;
using identity::WaitingLogins;

namespace {

constexpr base::UnixMicros begin = 1'795'700'000'000'000;
constexpr base::UnixMicros life = identity::waiting_life_s * 1'000'000;

Waiting begun(const std::string& network = "192.0.2.0/24") {
    return {.provider = "campus",
            .secret_sha256 = base::sha256_hex("mine"),
            .network = network,
            .verifier = "v",
            .until = begin + life};
}

}  // namespace

TEST_CASE("a log-in is taken once, by the secret of who began it") {
    WaitingLogins logins;
    REQUIRE(logins.add("s", begun(), begin).has_value());
    CHECK(logins.take("other", "mine", begin).error().code == "login.state");
    CHECK(logins.take("s", "mine", begin)->provider == "campus");
    CHECK(logins.take("s", "mine", begin).error().code == "login.state");
}

TEST_CASE("another browser is refused, and ends the log-in") {
    WaitingLogins logins;
    REQUIRE(logins.add("s", begun(), begin).has_value());
    CHECK(logins.take("s", "theirs", begin).error().code == "login.another_browser");
    CHECK(logins.take("s", "mine", begin).error().code == "login.state");
}

TEST_CASE("after ten minutes a log-in has to begin again") {
    WaitingLogins logins;
    REQUIRE(logins.add("s", begun(), begin).has_value());
    REQUIRE(logins.add("t", begun(), begin).has_value());
    CHECK(logins.take("s", "mine", begin + life - 1).has_value());
    CHECK(logins.take("t", "mine", begin + life).error().code == "login.state");
}

TEST_CASE(
    "log-ins that nobody ends are bounded, for each network and in all, and make room when they are old") {
    WaitingLogins logins;
    for (std::size_t i = 0; i < identity::max_waiting_of_network; ++i)
        REQUIRE(logins.add("a" + std::to_string(i), begun(), begin).has_value());
    CHECK(logins.add("more", begun(), begin).error().code == "login.busy");
    for (std::size_t i = identity::max_waiting_of_network; i < identity::max_waiting; ++i)
        REQUIRE(
            logins.add("b" + std::to_string(i), begun("network " + std::to_string(i)), begin).has_value());
    CHECK(logins.add("more", begun("another"), begin).error().kind == base::ErrorKind::exhausted);
    CHECK(logins.add("more", begun(), begin + life).has_value());
}

TEST_CASE(
    "a device looks at its log-in and asks as often as its interval permits, also where no place is left") {
    WaitingLogins logins;
    Waiting device = begun();
    device.interval_s = 5;
    device.asked = begin;
    REQUIRE(logins.add("d", device, begin).has_value());
    for (std::size_t i = 1; i < identity::max_waiting; ++i)
        REQUIRE(
            logins.add("b" + std::to_string(i), begun("network " + std::to_string(i)), begin).has_value());
    constexpr base::UnixMicros second = 1'000'000;
    CHECK_FALSE(logins.ask("d", begin + 5 * second - 1));
    CHECK(logins.ask("d", begin + 5 * second));
    CHECK_FALSE(logins.ask("d", begin + 5 * second));  // another request of the same device
    device.interval_s = 10;
    device.asked = begin + 5 * second;
    logins.replace("d", device);
    CHECK_FALSE(logins.ask("d", begin + 10 * second));
    CHECK(logins.ask("d", begin + 15 * second));
    CHECK(logins.look("d", "mine", begin)->interval_s == 10);
    CHECK(logins.take("d", "mine", begin).has_value());
    logins.replace("d", device);  // it has ended
    CHECK(logins.look("d", "mine", begin).error().code == "login.state");
    CHECK_FALSE(logins.ask("d", begin + life));
}

TEST_CASE("who looks with another secret ends the log-in") {
    WaitingLogins logins;
    REQUIRE(logins.add("s", begun(), begin).has_value());
    CHECK(logins.look("s", "theirs", begin).error().code == "login.another_browser");
    CHECK(logins.look("s", "mine", begin).error().code == "login.state");
}
