// The published event log of an index: which project changed at which serial, so that a follower of the tree
// looks at those pages alone. Only what the pages already show is in it. docs/formats/event-log.md.
//
//     {"format":"wheelyard.events/1","index":"main","first":1,"serial":12,"time":"2026-11-20T12:00:00.000000Z","previous":""}
//     11<TAB>2026-11-20T11:59:00.000000Z<TAB>file_added<TAB>six<TAB>six-1.16.0-py2.py3-none-any.whl
//
// `events/tail.tsv` has the last ones; a full tail becomes `events/<first serial>.tsv`, which the next tail
// names as `previous`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/disk.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

inline constexpr std::string_view event_folder = "events";  // below <index>/
inline constexpr std::string_view event_tail = "tail.tsv";
inline constexpr std::string_view every_project = "*";  // an event's project when all may have changed

struct LoggedEvent {
    catalog::Serial serial = 0;
    base::UnixMicros time = 0;
    std::string kind;
    std::string project;   // or every_project
    std::string filename;  // empty: of the project
    bool operator==(const LoggedEvent&) const = default;
};

struct EventSegment {
    std::string index;
    catalog::Serial first = 0;   // every event of the index from this serial on …
    catalog::Serial serial = 0;  // … up to this one is here
    base::UnixMicros time = 0;
    std::string previous;  // the file that holds what was before; empty: nothing was
    std::vector<LoggedEvent> events;
    bool operator==(const EventSegment&) const = default;
};

[[nodiscard]] std::string render_event_segment(const EventSegment& segment);
// Untrusted (a follower's): errors "events.format" and "events.line".
[[nodiscard]] base::Result<EventSegment> parse_event_segment(std::string_view text);

// Appends those of `events` (in order, all of one index) that the log in `tree` lacks. A log that cannot be
// read is begun anew: `events` must then be all there ever were, which is what `is_all` says; otherwise error
// "events.broken".
[[nodiscard]] base::Status append_events(Disk& disk, const std::filesystem::path& tree,
                                         const std::string& index, std::vector<LoggedEvent> events,
                                         bool is_all);

}  // namespace wheelyard::indexer
