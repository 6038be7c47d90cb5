// Pressure files as kernels write them, and stalls between two reads.
#include "builder/governor/memory/memory_watch.hpp"

#include <doctest/doctest.h>

#include "builder/governor/memory/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

namespace wheelyard::governor {
namespace {

TEST_CASE("only the total of the full line is read") {
    struct Row {
        const char* text;
        std::optional<std::uint64_t> total;
    };
    for (const auto& [text, total] :
         {Row{"some avg10=0.00 avg60=0.00 avg300=0.00 total=4144898\nfull avg10=0.00 avg60=0.00 avg300=0.00 "
              "total=465382\n",
              465382},
          Row{"some avg10=0.00 total=7\n", std::nullopt}, Row{"full avg10=0.00\n", std::nullopt},
          Row{"full total=x\n", std::nullopt}, Row{"full total=0", 0}, Row{"", std::nullopt}}) {
        CHECK_MESSAGE(full_stall_us(text) == total, text);
    }
}

TEST_CASE("a stall of more than a tenth of the time is pressure until the stall ends") {
    const auto folder = base::TempDir::make("pressure").value();
    const std::string path = (folder.path() / "memory.pressure").string();
    StallMeter meter(path);
    CHECK_FALSE(meter.is_stalled(0));  // no file yet
    std::int64_t now = 0;
    const auto after = [&](std::int64_t total_us) {
        REQUIRE(base::replace_file(path, "full total=" + std::to_string(total_us) + "\n"));
        now += 2 * stall_window_ms;
        return meter.is_stalled(now);
    };
    const auto part = static_cast<std::int64_t>(2.0 * stall_window_ms * 1000 * stall_fraction);
    CHECK_FALSE(after(5'000'000));  // the first read has no predecessor to compare with
    CHECK_FALSE(after(5'000'000 + part));
    CHECK(after(5'000'000 + 2 * part + 1));
    CHECK(meter.is_stalled(now + 1));  // within the window: the last answer
    CHECK_FALSE(after(5'000'000 + 2 * part + 1));
    CHECK_FALSE(after(0));  // the counter restarted
    CHECK_FALSE(StallMeter().is_stalled(1));
}

}  // namespace
}  // namespace wheelyard::governor
