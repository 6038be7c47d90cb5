// Many threads, one writer: serials in order, one winner a name.
#include "registry/writer.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/temp_dir.hpp"

using namespace wheelyard;
using catalog::Catalog;

namespace {

catalog::FileRow row_of(const std::string& project, char hash = 'a') {
    catalog::FileRow row;
    row.index = "main";
    row.project = project;
    row.filename = project + "-1.0-py3-none-any.whl";
    row.version = "1.0";
    row.sha256 = std::string(64, hash);
    row.metadata_sha256 = std::string(64, 'e');
    row.facts_json = "{}";
    return row;
}

}  // namespace

TEST_CASE("many threads commit through one writer: serials are 1 to N, stamped with the commit's time") {
    const auto dir = base::TempDir::make("writer").value();
    base::ManualClock clock(1'795'000'000'000'000);
    registry::Writer writer(Catalog::open(dir.path() / "c", Catalog::Mode::read_write).value(), clock);
    constexpr int count = 24;
    std::atomic<catalog::Serial> sum = 0;
    std::vector<std::thread> threads;
    for (int i = 0; i < count; ++i) {
        threads.emplace_back([&writer, &sum, i] {
            const auto added = writer.add_file(row_of("p" + std::to_string(i)));
            if (added) sum += added->serial;
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(sum == count * (count + 1) / 2);
    const auto found = writer.find_file("main", "p7-1.0-py3-none-any.whl").value();
    REQUIRE(found.has_value());
    CHECK(found->upload_time == clock.now());
    CHECK_FALSE(writer.find_file("main", "q-1.0-py3-none-any.whl").value().has_value());
}

TEST_CASE("of many uploads of one name with other bytes each, exactly one is added") {
    const auto dir = base::TempDir::make("writer").value();
    base::ManualClock clock(1);
    registry::Writer writer(Catalog::open(dir.path() / "c", Catalog::Mode::read_write).value(), clock);
    std::atomic<int> added = 0;
    std::vector<std::thread> threads;
    for (char hash = '0'; hash <= '9'; ++hash) {
        threads.emplace_back([&writer, &added, hash] {
            if (writer.add_file(row_of("six", hash))->outcome == catalog::AddOutcome::added) ++added;
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    CHECK(added == 1);
}
