#include "registry/serve/service_state.hpp"

#include <doctest/doctest.h>

#include "lib/base/limits.hpp"

namespace wheelyard::registry {

TEST_CASE("readiness ends with the room on the disk and with pages that stay behind, and says which") {
    struct Row {
        const char* what;
        PublishQueue::Lag lag;
        std::uint64_t free_bytes;
        std::string begins;  // empty: ready
        std::string reason = {};
    };
    const std::uint64_t room = 64 * base::mib;
    PublishQueue::Lag of_lost_blobs{7, 7, 0, 2, {}};
    of_lost_blobs.damaged_pages = 2;
    PublishQueue::Lag of_another_page = of_lost_blobs;
    of_another_page.lagging_pages = 3;
    const std::vector<Row> rows{
        {"all is well", {7, 7, 0, 0, {}}, room, ""},
        {"a page is on its way", {6, 7, 1000, 0, {}}, room, ""},
        {"a page is late",
         {6, 7, 1001, 0, {}},
         room,
         "publishing lags: serial 6 of 7 is published",
         "publish_lags"},
        {"a run failed",
         {6, 7, 1, 0, "No space left"},
         room,
         "publishing fails: serial 6 of 7 is published; No space left",
         "publish_fails"},
        {"pages cannot be written", {7, 7, 0, 2, {}}, room, "publishing left 2 pages behind", "pages_behind"},
        {"two files have lost their bytes", of_lost_blobs, room, ""},
        {"and a page cannot be written", of_another_page, room, "publishing left 1 pages behind",
         "pages_behind"},
        {"the disk is full",
         {7, 7, 0, 0, {}},
         room - 1,
         "the store's disk is full: 63 MiB are left",
         "disk_full"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const auto why = why_not_ready(
            {.lag = row.lag, .free_bytes = row.free_bytes, .min_free_bytes = room, .patience_ms = 1000});
        REQUIRE(why.has_value() == !row.begins.empty());
        if (why) CHECK(why->text.starts_with(row.begins));
        if (why) CHECK(http::not_ready_words.text(why->reason) == row.reason);
    }
    CHECK(why_not_ready(
              {.lag = {7, 7, 0, 0, {}},
               .free_bytes = room,
               .min_free_bytes = room,
               .patience_ms = 1000,
               .write_failure = "the catalog cannot be written: Another process has locked the catalog"})
              ->text == "the catalog cannot be written: Another process has locked the catalog");
}

}  // namespace wheelyard::registry
