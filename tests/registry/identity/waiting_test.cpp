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

Waiting begun(const std::string& client = "192.0.2.1") {
    return {.provider = "campus",
            .secret_sha256 = base::sha256_hex("mine"),
            .client = client,
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
    "log-ins that nobody ends are bounded, for each client and in all, and make room when they are old") {
    WaitingLogins logins;
    for (std::size_t i = 0; i < identity::max_waiting_of_client; ++i)
        REQUIRE(logins.add("a" + std::to_string(i), begun(), begin).has_value());
    CHECK(logins.add("more", begun(), begin).error().code == "login.busy");
    for (std::size_t i = identity::max_waiting_of_client; i < identity::max_waiting; ++i)
        REQUIRE(logins.add("b" + std::to_string(i), begun("client " + std::to_string(i)), begin).has_value());
    CHECK(logins.add("more", begun("another"), begin).error().kind == base::ErrorKind::exhausted);
    CHECK(logins.add("more", begun(), begin + life).has_value());
}
