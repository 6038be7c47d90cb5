// The days on which fetched files were used: in memory until they are saved, and readable after a restart. The order in which
// the files are evicted.
#include "registry/upstream/last_used.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard;
using registry::CachedCopy;
using registry::day_of;
using registry::LastUsed;

namespace {

constexpr base::UnixMicros hour = 3600LL * 1'000'000;
constexpr base::UnixMicros day = 24 * hour;
constexpr base::UnixMicros noon = 20'000 * day + day / 2;
const std::string six(64, 'a');
const std::string torch(64, 'b');

std::vector<std::string> names(const std::vector<CachedCopy>& copies) {
    std::vector<std::string> names;
    for (const CachedCopy& copy : copies)
        names.push_back(copy.filename);
    return names;
}

}  // namespace

TEST_CASE("a use counts for its day, the newest one stays, and save() keeps it for the next start") {
    const auto dir = base::TempDir::make("used").value();
    const auto file = dir.path() / "upstream" / "last-used.json";
    {
        LastUsed used(file);
        CHECK(used.day(six) == 0);
        used.note(six, noon);
        used.note(six, noon - day);
        CHECK(used.day(six) == 20'000);
        CHECK_FALSE(std::filesystem::exists(file));  // a request writes nothing
        REQUIRE(used.save(noon));
    }
    LastUsed used(file);
    CHECK(used.day(six) == 20'000);
    CHECK(used.day(torch) == 0);
}

TEST_CASE("save() writes only if a file was used on another day") {
    const auto dir = base::TempDir::make("used").value();
    const auto file = dir.path() / "last-used.json";
    LastUsed used(file);
    REQUIRE(used.save(noon));
    CHECK_FALSE(std::filesystem::exists(file));
    used.note(six, noon);
    REQUIRE(used.save(noon));
    REQUIRE(std::filesystem::remove(file));
    used.note(six, noon + 1);
    REQUIRE(used.save(noon + 1));
    CHECK_FALSE(std::filesystem::exists(file));
    used.note(six, noon + day);
    REQUIRE(used.save(noon + day));
    CHECK(std::filesystem::exists(file));
}

TEST_CASE("a file that nobody used for long is forgotten, a damaged record counts as empty") {
    const auto dir = base::TempDir::make("used").value();
    const auto file = dir.path() / "last-used.json";
    LastUsed used(file);
    used.note(six, noon - 401 * day);
    used.note(torch, noon - 400 * day);
    REQUIRE(used.save(noon));
    CHECK(used.day(six) == 0);
    CHECK(used.day(torch) == 19'600);
    for (const char* text : {"", "{", "[]", R"({"format":"wheelyard.last-used/2","days":{}})",
                             R"({"format":"wheelyard.last-used/1","days":{"../x":3}})",
                             R"({"format":"wheelyard.last-used/1","days":7})"}) {
        CAPTURE(text);
        REQUIRE(base::replace_file(file, text));
        LastUsed again(file);
        CHECK(again.day(torch) == 0);
        again.note(torch, noon);
        REQUIRE(again.save(noon));
        CHECK(LastUsed(file).day(torch) == 20'000);
    }
}

TEST_CASE("the least recently used day comes first, then the oldest fetch, then the name") {
    const std::vector<CachedCopy> copies{
        {.filename = "used-today", .fetched = noon - 9 * day, .last_used = 20'000},
        {.filename = "b", .fetched = noon - 8 * day, .last_used = 19'999},
        {.filename = "a", .fetched = noon - 8 * day, .last_used = 19'999},
        {.filename = "fetched-first", .fetched = noon - 9 * day, .last_used = 19'999},
        {.filename = "unused", .fetched = noon - 2 * day, .last_used = 19'998}};
    CHECK(names(registry::order_of_return(copies, noon)) ==
          std::vector<std::string>{"unused", "fetched-first", "a", "b", "used-today"});
}

TEST_CASE("what is kept and what was fetched within the hour is never evicted") {
    const std::vector<CachedCopy> copies{
        {.filename = "kept", .fetched = noon - 9 * day, .last_used = 1, .is_kept = true},
        {.filename = "just-fetched", .fetched = noon - hour + 1, .last_used = 1},
        {.filename = "an-hour-old", .fetched = noon - hour, .last_used = 20'000},
        {.filename = "from-the-future", .fetched = noon + day, .last_used = 1}};
    CHECK(names(registry::order_of_return(copies, noon)) == std::vector<std::string>{"an-hour-old"});
}
