#include "indexer/tree/published_state.hpp"

#include <doctest/doctest.h>

#include "tests/support/golden.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

TEST_CASE("the state of a tree survives a round trip") {
    PublishedState with_farm;
    with_farm.pages = {9,
                       "a1b2",
                       {.title = "A farm",
                        .text = "Wheels for all",
                        .contact = "a@example.org",
                        .style = ":root {}",
                        .logo = "logo.2d711642b726.svg",
                        .url = "https://wheels.example.org",
                        .login = "https://wheels.example.org/api/v1/login/",
                        .titles = {{"main", "Wheels of Bede"}},
                        .hidden = {"staging"},
                        .without_pages = {"bulk"}}};
    PublishedState of_private;
    of_private.is_private = true;
    of_private.serials = {{"main", 9}};
    for (const auto& state :
         {PublishedState{}, of_private, PublishedState{12, {}}, PublishedState{7, {"main", "bede-gh200"}},
          PublishedState{9, {}, {}, {"find-links"}, 1'795'176'000'000'000, "file_added"}, with_farm}) {
        const auto read = parse_published_state(render_published_state(state));
        REQUIRE(read);
        CHECK(*read == state);
    }
}

TEST_CASE("the bytes of published.json stay as they were written") {
    PublishedState full{
        12, {"main"}, {{"main", "six", {{"ab", "six.whl"}}}}, {"find-links"}, 1'795'176'000'000'000};
    full.is_private = true;
    full.serials = {{"gpu", 3}, {"main", 12}};
    full.copies = {".gz", ".zst"};
    full.late_copies = {"main/simple/six"};
    full.flat_serial = 11;
    full.pages = {9, "a1b2", {.title = "A farm", .titles = {{"main", "Wheels"}}, .hidden = {"staging"}}};
    CHECK(test_support::golden_difference(
              "indexer/published.json",
              render_published_state(full) + render_published_state(PublishedState{})) == "");
    CHECK(parse_published_state(render_published_state(full)).value() == full);
}

TEST_CASE("an unknown format is rejected, never treated as an empty tree") {
    struct Case {
        const char* text;
        const char* code;
    };
    for (const auto& [text, code] :
         {Case{"", "json.syntax"}, Case{"{}", "publish.state_format"},
          Case{R"({"format":"wheelyard.published/1","serial":1,"stale_roots":[]})", "publish.state_format"},
          Case{R"({"format":"wheelyard.published/2","stale_roots":[]})", "json.missing"},
          Case{R"({"format":"wheelyard.published/2","serial":1})", "publish.state_broken"},
          Case{R"({"format":"wheelyard.published/2","serial":-1,"stale_roots":[]})",
               "publish.state_broken"}}) {
        CAPTURE(text);
        const auto read = parse_published_state(text);
        REQUIRE(!read);
        CHECK(read.error().code == code);
    }
}
