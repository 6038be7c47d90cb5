// Rendering and parsing of segments; a log that grows over many segments and is read back from its tail.
#include "indexer/tree/event_log.hpp"

#include <doctest/doctest.h>

#include "indexer/tree/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "tests/indexer/forwarding_disk.hpp"
#include "tests/indexer/store_fixture.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

std::vector<LoggedEvent> events_from(catalog::Serial first, std::size_t count) {
    std::vector<LoggedEvent> events;
    for (std::size_t at = 0; at < count; ++at) {
        const catalog::Serial serial = first + static_cast<catalog::Serial>(at);
        events.push_back({serial, noon + serial, "file_added", "six", "six-1-py3-none-any.whl"});
    }
    return events;
}

EventLines lines_of(const std::vector<LoggedEvent>& events) {
    EventLines lines;
    for (const auto& event : events)
        lines.add(event);
    return lines;
}

EventSegment read(const std::filesystem::path& tree, const std::string& name) {
    const auto text = base::read_file(tree / "main/events" / name, 1 << 24);
    REQUIRE(text);
    const auto segment = parse_event_segment(*text);
    REQUIRE(segment);
    return *segment;
}

// Reads from the tail back to the beginning, as a follower does.
std::vector<LoggedEvent> read_all(const std::filesystem::path& tree) {
    EventSegment segment = read(tree, "tail.tsv");
    std::vector<LoggedEvent> events = segment.events;
    while (!segment.previous.empty()) {
        segment = read(tree, segment.previous);
        events.insert(events.begin(), segment.events.begin(), segment.events.end());
    }
    return events;
}

}  // namespace

TEST_CASE("a segment survives a round trip") {
    const EventSegment segment{"main",
                               3,
                               12,
                               noon,
                               "1.tsv",
                               {{3, noon, "file_added", "six", "six-1-py3-none-any.whl"},
                                {12, noon, "project_status_changed", "six", ""}}};
    CHECK(*parse_event_segment(render_event_segment(segment)) == segment);
}

TEST_CASE("segments that are truncated, altered or of another format are rejected") {
    const std::string whole = render_event_segment({"main", 1, 2, noon, "", events_from(1, 2)});
    CHECK(parse_event_segment(whole));
    for (const std::string& bad : {std::string(), whole.substr(0, whole.size() - 1), std::string("{}\n"),
                                   std::string("x\n"), whole + "x\n", whole + "1\tnever\tkind\tsix\t\n",
                                   base::replace_all(whole, "\tsix\t", "\tsix\x1b[31m\t")})
        CHECK_MESSAGE(!parse_event_segment(bad), bad);
}

TEST_CASE("a serial that leaves no room for the next one is rejected") {
    const EventSegment segment{"main", 7, 7, noon, "", events_from(7, 1)};
    const std::string text = render_event_segment(segment);
    REQUIRE(parse_event_segment(text).has_value());
    for (const char* member : {"\"first\":7", "\"serial\":7"}) {
        for (const char* number : {"9223372036854775807", "4611686018427387905", "-1"}) {
            const std::string name = std::string(member).substr(0, std::string(member).find(':') + 1);
            const std::string forged = base::replace_all(text, member, name + number);
            CAPTURE(forged);
            REQUIRE(forged != text);
            CHECK_FALSE(parse_event_segment(forged).has_value());
        }
    }
    const std::string forged = base::replace_all(text, "\n7\t", "\n18446744073709551615\t");
    REQUIRE(forged != text);
    CHECK_FALSE(parse_event_segment(forged).has_value());
}

TEST_CASE("every event is found from the tail back, for every pattern of appends") {
    for (const std::size_t step : {std::size_t{1}, std::size_t{7}, events_per_segment, events_per_segment + 1,
                                   3 * events_per_segment}) {
        CAPTURE(step);
        const auto folder = make_test_folder();
        LocalDisk disk;
        const auto all = events_from(1, 2 * events_per_segment + 3);
        for (std::size_t at = 0; at < all.size(); at += step) {
            const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min(all.size(), at + step));
            // Includes some existing events, as after a killed run.
            const auto begin = all.begin() + static_cast<std::ptrdiff_t>(at > 2 ? at - 2 : 0);
            REQUIRE(append_events(disk, folder.path(), "main", lines_of({begin, end}), false));
        }
        CHECK(read_all(folder.path()) == all);
        CHECK(read(folder.path(), "tail.tsv").serial == all.back().serial);
    }
}

TEST_CASE("each file of the log says at which serial it begins, and older ones are named after it") {
    const auto folder = make_test_folder();
    LocalDisk disk;
    constexpr auto of_each = static_cast<catalog::Serial>(events_per_segment);
    REQUIRE(append_events(disk, folder.path(), "main", lines_of(events_from(5, 2 * events_per_segment + 3)),
                          true));
    const EventSegment tail = read(folder.path(), "tail.tsv");
    CHECK(tail.first == 5 + 2 * of_each);
    CHECK(tail.previous == std::to_string(5 + of_each) + ".tsv");
    const EventSegment older = read(folder.path(), tail.previous);
    CHECK(older.first == 5 + of_each);
    CHECK(older.previous == "5.tsv");
    CHECK(read(folder.path(), "5.tsv").first == 5);
}

TEST_CASE("a log of many files is synced with its file system instead of file by file") {
    class CountingDisk final : public ForwardingDisk {
      public:
        int bulks = 0;
        base::Status begin_bulk(const std::filesystem::path& tree) override {
            ++bulks;
            return disk_.begin_bulk(tree);
        }
    };
    const auto folder = make_test_folder();
    CountingDisk disk;
    const auto all = events_from(1, bulk_from_segments * events_per_segment + 1);
    REQUIRE(append_events(disk, folder.path(), "main", lines_of(all), true));
    CHECK(disk.bulks == 1);
    CHECK(read_all(folder.path()) == all);
    REQUIRE(
        append_events(disk, folder.path(), "main", lines_of(events_from(all.back().serial + 1, 1)), true));
    CHECK(disk.bulks == 1);
}

TEST_CASE("an unreadable log is rebuilt only from all events") {
    const auto folder = make_test_folder();
    LocalDisk disk;
    REQUIRE(append_events(disk, folder.path(), "main", lines_of(events_from(1, 3)), true));
    REQUIRE(base::replace_file(folder.path() / "main/events/tail.tsv", "damaged"));
    CHECK(append_events(disk, folder.path(), "main", lines_of(events_from(4, 1)), false).error().code ==
          "events.broken");
    REQUIRE(append_events(disk, folder.path(), "main", lines_of(events_from(1, 4)), true));
    CHECK(read_all(folder.path()) == events_from(1, 4));
}
