// Names of people: who it is stays, what is shown may change.
#include "registry/access/person.hpp"

#include <doctest/doctest.h>

#include "registry/access/limits.hpp"
#include "registry/config/limits.hpp"
#include "registry/identity/limits.hpp"

using namespace wheelyard;
using registry::is_same_actor;
using registry::person_name;

TEST_CASE("a person stays the same under another shown name, and no one else is") {
    const std::string anna = person_name("campus", "https://idp.example", "7f3a", "Anna M\xc3\xbcller");
    CHECK(registry::is_person(anna));
    CHECK(anna.ends_with(" Anna M\xc3\xbcller"));
    CHECK(is_same_actor(anna, person_name("campus", "https://idp.example", "7f3a", "Anna Schmidt")));
    CHECK(is_same_actor(anna, person_name("campus", "https://idp.example", "7f3a", "")));
    CHECK_FALSE(
        is_same_actor(anna, person_name("campus", "https://idp.example", "8b1c", "Anna M\xc3\xbcller")));
    CHECK_FALSE(
        is_same_actor(anna, person_name("campus", "https://other.example", "7f3a", "Anna M\xc3\xbcller")));
    // Two halves of one text are not other halves of it.
    CHECK_FALSE(is_same_actor(person_name("campus", "https://a", "bc", ""),
                              person_name("campus", "https://ab", "c", "")));
}

TEST_CASE("a person's actor is the first word of the name, and the rest is for display") {
    const std::string anna = person_name("campus", "https://idp.example", "7f3a", "Anna M\xc3\xbcller");
    CHECK(registry::actor_of(anna) == person_name("campus", "https://idp.example", "7f3a", ""));
    CHECK(registry::shown_name_of(anna) == "Anna M\xc3\xbcller");
    CHECK(registry::actor_of("ci main") == "ci main");
    CHECK(registry::shown_name_of("ci main").empty());
    CHECK(registry::shown_name_of(registry::actor_of(anna)).empty());
}

TEST_CASE("ended log-ins go after a month, and the last one of a person, with its name, after a year") {
    constexpr base::UnixMicros day = 24LL * 3600 * 1'000'000;
    constexpr base::UnixMicros now = 1000 * day;
    const auto log_in = [](const std::string& id, const std::string& name, base::UnixMicros end,
                           base::UnixMicros revoked = 0) {
        return catalog::TokenRow{.id = id,
                                 .secret_sha256 = {},
                                 .name = name,
                                 .indexes = {},
                                 .projects = {},
                                 .actions = {},
                                 .created = 1,
                                 .expires = end,
                                 .revoked = revoked != 0,
                                 .revoked_at = revoked};
    };
    const std::string anna = "login:campus:0000000000000001 Anna";
    const std::string bert = "login:campus:0000000000000002 Bert";
    CHECK(
        registry::log_ins_to_drop(
            {log_in("active", anna, now + day), log_in("ended lately", anna, now - 29 * day),
             log_in("ended", anna + " M.", now - 30 * day),
             log_in("revoked", anna, now + day, now - 30 * day),
             log_in("last of Bert", bert, now - 364 * day), log_in("earlier of Bert", bert, now - 365 * day),
             log_in("a machine's", "ci main", now - 900 * day)},
            now) == std::vector<std::string>{"ended", "revoked", "earlier of Bert"});
    CHECK(registry::log_ins_to_drop({log_in("last of Bert", bert, now - 365 * day)}, now) ==
          std::vector<std::string>{"last of Bert"});
}

TEST_CASE("tokens that are no log-ins are compared as a whole") {
    CHECK(is_same_actor("ci main", "ci main"));
    CHECK_FALSE(is_same_actor("ci main", "ci other"));
}

TEST_CASE("the longest name of a person fits into the name of a token") {
    const std::string longest =
        person_name(std::string(registry::max_identity_name, 'a'), "https://idp.example", "s",
                    std::string(identity::max_shown_name_bytes, 'x'));
    CHECK(longest.size() <= registry::max_token_name);
}
