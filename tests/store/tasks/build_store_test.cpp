// The builds that sites report, and their logs: in each database, across a restart, and within the limits.
#include "lib/store/tasks/build_store.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/temp_dir.hpp"
#include "lib/store/tasks/postgres/postgres_tasks.hpp"
#include "lib/store/tasks/sqlite/sqlite_tasks.hpp"
#include "tests/store/tasks/build_report.hpp"
#include "tests/support/postgres_server.hpp"

namespace wheelyard::tasks {
namespace {

constexpr std::int64_t day_ms = std::int64_t{24} * 3'600'000;

struct Builds {
    base::TempDir dir = base::TempDir::make("builds").value();
    base::ManualClock clock{1'795'000'000'000'000};
    std::string database = {};  // empty: a file
    BuildLimits limits;
    std::unique_ptr<BuildStore> store;

    // The whole test runs once with each.
    explicit Builds(BuildLimits wanted = {}) : limits(wanted) {
        SUBCASE("in SQLite") {}
        if (test::has_postgres()) {
            SUBCASE("in PostgreSQL") {
                database = test::postgres_url();
            }
        }
        open();
    }
    void open() {
        store.reset();
        auto rows = database.empty() ? open_sqlite_builds(dir.path() / "tasks.sqlite")
                                     : open_postgres_builds({database, {}});
        REQUIRE_MESSAGE(rows.has_value(), rows.error().text());
        store = std::make_unique<BuildStore>(*std::move(rows), limits, clock);
    }
    void report(const std::vector<std::string>& running, const std::vector<std::string>& finished = {}) {
        const base::UnixMicros now = clock.now();
        const auto noted =
            store->note(test_support::build_report(now, running, finished, now, now + 1'000'000));
        REQUIRE_MESSAGE(noted.has_value(), noted.error().text());
    }
    static BuildKey key(const std::string& id) { return {"main", "bede", id}; }
    [[nodiscard]] std::string state(const std::string& id) const {
        const auto found = store->find(key(id));
        REQUIRE_MESSAGE(found.has_value(), found.error().text());
        return *found ? (*found)->report.state : "none";
    }
    [[nodiscard]] std::string append(const std::string& id, std::int64_t offset,
                                     std::string_view bytes) const {
        const auto size = store->append_log(key(id), offset, bytes);
        return size ? std::to_string(*size) : size.error().code;
    }
    [[nodiscard]] std::string log(const std::string& id, std::int64_t offset = 0) const {
        return store->read_log(key(id), offset).value();
    }
};

TEST_CASE("a log comes in pieces, resumes after a cut, and survives a restart") {
    Builds builds;
    CHECK(builds.append("w1", 0, "x") == "build.unknown");  // before any report
    builds.report({"w1"});
    CHECK(builds.append("w1", 0, "") == "0");
    CHECK(builds.append("w1", 0, "one\n") == "4");
    CHECK(builds.append("w1", 5, "x") == "build.log_gap");
    CHECK(builds.append("w1", -1, "x") == "build.log_gap");
    CHECK(builds.append("w1", 0, "one\n") == "4");     // an answer was lost
    CHECK(builds.append("w1", 2, "e\ntwo\n") == "8");  // likewise, and more
    const std::string bytes("\x1b[0m\xff\0z\n", 8);    // as a build prints them
    CHECK(builds.append("w1", 8, bytes) == "16");
    builds.open();
    CHECK(builds.log("w1") == "one\ntwo\n" + bytes);
    CHECK(builds.log("w1", 6) == "o\n" + bytes);
    CHECK(builds.log("w1", 99).empty());
    CHECK(builds.log("w2").empty());
    CHECK(builds.store->find(Builds::key("w1")).value()->log_bytes == 16);
}

TEST_CASE("a report changes the build and keeps its log") {
    Builds builds;
    builds.report({"w1", "w2"});
    CHECK(builds.append("w1", 0, "one\n") == "4");
    CHECK(builds.state("w1") == "running");
    builds.clock.sleep_ms(1000);
    builds.report({}, {"w1"});
    CHECK(builds.state("w1") == "done");
    CHECK(builds.state("w2") == "ended");
    CHECK(builds.append("w1", 4, "end\n") == "8");  // the rest comes after the end
    CHECK(builds.log("w1") == "one\nend\n");
    const auto all = builds.store->list("main", "torch").value();
    REQUIRE(all.size() == 2);
    CHECK(builds.store->list("main", "").value().size() == 2);
    CHECK(builds.store->list("main", "numpy").value().empty());
    CHECK(builds.store->list("other", "").value().empty());
}

TEST_CASE("a log has a limit of bytes") {
    Builds builds;
    builds.report({"w1"});
    const std::string piece(base::mib, 'x');
    for (std::int64_t at = 0; at < max_log_bytes; at += static_cast<std::int64_t>(base::mib))
        REQUIRE(builds.append("w1", at, piece) ==
                std::to_string(at + static_cast<std::int64_t>(piece.size())));
    CHECK(builds.append("w1", max_log_bytes, "x") == "build.log_full");
    CHECK(builds.log("w1", max_log_bytes - 3) == "xxx");
}

TEST_CASE("builds are removed after kept_days, also those that a silent site left open") {
    Builds builds;
    builds.report({"w1"}, {"w2"});
    CHECK(builds.append("w1", 0, "one\n") == "4");
    builds.clock.sleep_ms(90 * day_ms - 1);
    builds.report({"w1", "w3"});
    CHECK(builds.state("w1") == "running");
    builds.clock.sleep_ms(3'600'001);  // w1 has the time of the report before
    builds.report({"w3"});
    CHECK(builds.state("w2") == "none");
    CHECK(builds.state("w3") == "running");
    builds.clock.sleep_ms(91 * day_ms);
    CHECK(builds.append("w9", 0, "x") == "build.unknown");  // any change removes what is old
    CHECK(builds.state("w3") == "none");
    CHECK(builds.log("w1").empty());
}

TEST_CASE("no change removes more bytes of logs than it has time for") {
    Builds builds({.max_bytes_at_once = 10});
    builds.report({"w1", "w2", "w3"});
    for (const char* id : {"w1", "w2", "w3"})
        CHECK(builds.append(id, 0, "12345678") == "8");
    builds.clock.sleep_ms(91 * day_ms);
    CHECK(builds.append("w9", 0, "x") == "build.unknown");
    int left = 0;
    for (const char* id : {"w1", "w2", "w3"})
        left += builds.state(id) == "none" ? 0 : 1;
    CHECK(left == 1);
    CHECK(builds.append("w9", 0, "x") == "build.unknown");  // the next change goes on at once
    CHECK(builds.state("w3") == "none");
}

TEST_CASE("too many builds, or too much of their logs, lets the oldest go that are over") {
    Builds builds({.max_builds = 3, .max_log_bytes = 10});
    builds.report({"w1", "w2", "w3"});
    for (const char* id : {"w1", "w2", "w3"})
        CHECK(builds.append(id, 0, "12345678") == "8");
    builds.clock.sleep_ms(3'600'001);
    builds.report({"w3", "w4"}, {"w1"});  // w2 has ended, too; nothing was over when it came
    builds.clock.sleep_ms(3'600'001);
    builds.report({"w3", "w4"}, {"w2"});
    builds.clock.sleep_ms(3'600'001);
    builds.report({"w3", "w4"});
    CHECK(builds.state("w3") == "running");
    CHECK(builds.state("w4") == "running");
    CHECK(builds.log("w3") == "12345678");  // still written
    CHECK(builds.log("w1").empty());
    CHECK(builds.log("w2").empty());
    CHECK(builds.store->list("main", "").value().size() == 3);
}

}  // namespace
}  // namespace wheelyard::tasks
