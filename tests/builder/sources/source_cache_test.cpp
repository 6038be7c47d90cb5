#include "builder/sources/source_cache.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "lib/base/files/temp_dir.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

const fs::file_time_type now = fs::file_time_type::clock::now();

std::vector<std::string> names(const std::vector<CacheEntry>& entries) {
    std::vector<std::string> found;
    for (const auto& entry : entries)
        found.push_back(entry.folder.filename().string());
    return found;
}

TEST_CASE("the least recently used entries are evicted first, and no more than necessary") {
    const std::vector<CacheEntry> entries = {
        {"new", 40, now - 2h}, {"old", 30, now - 9h}, {"older", 30, now - 10h}};
    using Names = std::vector<std::string>;
    CHECK(names(choose_to_remove(entries, 100, now)) == Names{});
    CHECK(names(choose_to_remove(entries, 99, now)) == Names{"older"});
    CHECK(names(choose_to_remove(entries, 70, now)) == Names{"older"});
    CHECK(names(choose_to_remove(entries, 69, now)) == Names{"older", "old"});
    CHECK(names(choose_to_remove(entries, 0, now)) == Names{"older", "old", "new"});
}

TEST_CASE("an entry that an attempt may be about to unpack is kept even if the cache is too large") {
    const std::vector<CacheEntry> entries = {{"new", 40, now - 1min}, {"old", 30, now - 9h}};
    CHECK(names(choose_to_remove(entries, 0, now - 1h)) == std::vector<std::string>{"old"});
}

TEST_CASE("downloads and clones are trimmed on disk, unfinished clones are not touched") {
    const auto work = base::TempDir::make("cache").value();
    const fs::path sources = work.path() / "sources";
    const auto entry = [&](const std::string& folder, const std::string& file, std::size_t bytes,
                           std::chrono::hours age) {
        testing::write(sources / folder / file, std::string(bytes, 'x'));
        return std::pair(sources / folder, age);
    };
    const std::pair<fs::path, std::chrono::hours> made[] = {
        entry("sha256/ab/abcd", "a-1.tar.gz", 1000, 5h),
        entry("sha256/ab/abce", "b-1.tar.gz", 1000, 3h),
        entry("git/torch-1", "tree/a/file", 4000, 4h),
        entry("git/half-2", "tree/file", 9000, 6h),
    };
    testing::write(sources / "git/torch-1/commit", "c0ffee\n");
    for (const auto& [folder, age] : made)
        fs::last_write_time(folder, now - age);

    CHECK(trim_cache(sources, 1'000'000, {})->empty());
    CHECK(fs::last_write_time(sources / "git/torch-1") <= now - 4h);  // measuring does not count as use
    CHECK(names(*trim_cache(sources, 5'500, {})) == std::vector<std::string>{"abcd"});
    CHECK(!fs::exists(sources / "sha256/ab/abcd"));
    mark_used(sources / "sha256/ab/abce");
    CHECK(names(*trim_cache(sources, 0, {})) == std::vector<std::string>{"torch-1"});
    CHECK(fs::exists(sources / "sha256/ab/abce/b-1.tar.gz"));
    CHECK(fs::exists(sources / "git/half-2/tree/file"));
    CHECK(!fs::exists(sources / "git/torch-1"));
    CHECK(list_cache(sources / "nothing").empty());
}

}  // namespace
}  // namespace wheelyard::builder
