#include "builder/attempt/job_files.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

const std::string good =
    R"({"format":"wheelyard.exit/1","attempt":"w1","exit_code":2,"phase":"build",)"
    R"("phases":[{"name":"venv","began_ms":1000},{"name":"build","began_ms":2500}],"ended_ms":9000})";

TEST_CASE("parsing an exit record converts milliseconds to microseconds") {
    const auto record = parse_exit_record(good, "w1");
    REQUIRE_MESSAGE(record.has_value(), record.error().text());
    CHECK(record->exit_code == 2);
    CHECK(record->phase == "build");
    REQUIRE(record->phases.size() == 2);
    CHECK(record->phases[1].began == 2'500'000);
    CHECK(record->ended == 9'000'000);
    // A job that ended before its first phase; and what no list is.
    for (const char* phases : {"", R"(,"phases":5)"}) {
        const std::string none =
            std::string(R"({"format":"wheelyard.exit/1","attempt":"w1","exit_code":0)") + phases + "}";
        CHECK_MESSAGE(parse_exit_record(none, "w1").value().phases.empty(), none);
    }
}

TEST_CASE("a record of another attempt or a truncated one is an error, a missing one is not") {
    CHECK(parse_exit_record(good, "w2").error().code == "job.exit_record");
    CHECK(!parse_exit_record(good.substr(0, 60), "w1").has_value());
    CHECK(!parse_exit_record("{}", "w1").has_value());
    const base::TempDir folder = *base::TempDir::make("exit");
    const auto absent = read_exit_record({folder.path()}, "w1");
    REQUIRE(absent.has_value());
    CHECK(!absent->has_value());
}

TEST_CASE("own_bulk excludes the build tree; bulk includes it as long as no other attempt uses it") {
    const base::TempDir dir = *base::TempDir::make("bulk");
    const AttemptFolder folder{dir.path() / "w1", dir.path() / "trees" / "demo-1"};
    const auto has = [](const auto& paths, const std::filesystem::path& path) {
        return std::find(paths.begin(), paths.end(), path) != paths.end();
    };
    for (const char* name : {"wheelhouse", "checked", "asking", "smoke"})
        CHECK(has(folder.own_bulk(), folder.root / name));
    for (const auto& [user, is_own] :
         {std::pair("w1\n", true), std::pair("w2\n", false), std::pair("", false)}) {
        testing::write(folder.used_by(), user);
        CHECK(folder.has_build_tree() == is_own);
        for (const char* name : {"tree", "venv", "beside", "home"}) {
            CAPTURE(name);
            CHECK_FALSE(has(folder.own_bulk(), folder.build() / name));
            CHECK(has(folder.bulk(), folder.build() / name) == is_own);
            CHECK(has(folder.build_bulk(), folder.build() / name));
        }
    }
}

TEST_CASE("an owner needs host, pid and start") {
    CHECK(parse_owner(R"({"host":"n","boot":"b","pid":7,"start":8})")->pid == 7);
    for (const char* text : {"", "{}", R"({"host":"n","pid":"7","start":8})", R"({"host":"n","pid":7})"}) {
        CHECK(!parse_owner(text).has_value());
    }
}

}  // namespace
}  // namespace wheelyard::builder
