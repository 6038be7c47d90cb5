#include "registry/service_state.hpp"

#include <doctest/doctest.h>

#include "lib/base/temp_dir.hpp"
#include "registry/limits.hpp"

namespace wheelyard::registry {

TEST_CASE("readiness ends with the room on the disk and with pages that stay behind, and says which") {
    struct Row {
        const char* what;
        PublishQueue::Lag lag;
        std::uint64_t free_bytes;
        std::string begins;  // empty: ready
    };
    const std::uint64_t room = min_free_bytes;
    const std::vector<Row> rows{
        {"all is well", {7, 7, 0, 0, {}}, room, ""},
        {"a page is on its way", {6, 7, 1000, 0, {}}, room, ""},
        {"a page is late", {6, 7, 1001, 0, {}}, room, "publishing lags: serial 6 of 7 is out"},
        {"a run failed",
         {6, 7, 1, 0, "No space left"},
         room,
         "publishing fails: serial 6 of 7 is out; No space left"},
        {"a project is damaged", {7, 7, 0, 2, {}}, room, "publishing left 2 pages behind"},
        {"the disk is full", {7, 7, 0, 0, {}}, room - 1, "the store's disk is full: 63 MiB are left"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.what);
        const std::string why = why_not_ready(row.lag, row.free_bytes, 1000);
        CHECK(why.empty() == row.begins.empty());
        CHECK(why.starts_with(row.begins));
    }
}

}  // namespace wheelyard::registry
