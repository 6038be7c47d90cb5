// The vectors of draft-eastlake-fnv, appendix C.
#include "lib/base/digest/digest.hpp"

#include <doctest/doctest.h>

using namespace wheelyard::base;

TEST_CASE("FNV-1a of the draft's vectors") {
    CHECK(hash_text_hex("") == "cbf29ce484222325");
    CHECK(hash_text_hex("a") == "af63dc4c8601ec8c");
    CHECK(hash_text_hex("foobar") == "85944171f73967e8");
    CHECK(hash_text("bar", hash_text("foo")) == hash_text("foobar"));
}
