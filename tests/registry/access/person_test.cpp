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
