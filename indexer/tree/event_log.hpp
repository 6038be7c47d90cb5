// The published event log of an index: which project changed at which serial, so that a follower of the tree
// fetches only those pages. It holds only events that the pages already show. docs/reference/event-log.md.
//
//     {"format":"wheelyard.events/1","index":"main","first":1,"serial":12,"time":"2026-11-20T12:00:00.000000Z","previous":""}
//     11<TAB>2026-11-20T11:59:00.000000Z<TAB>file_added<TAB>six<TAB>six-1.16.0-py2.py3-none-any.whl
//
// `events/tail.tsv` has the newest events. A full tail becomes `events/<first serial>.tsv`, which the next
// tail names as `previous`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "indexer/tree/disk.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

inline constexpr std::string_view event_folder = "events";  // below <index>/
inline constexpr std::string_view event_tail = "tail.tsv";
inline constexpr std::string_view every_project = "*";  // as an event's project: all may have changed

struct LoggedEvent {
    catalog::Serial serial = 0;
    base::UnixMicros time = 0;
    std::string kind;
    std::string project;   // or every_project
    std::string filename;  // empty: the event concerns the whole project
    bool operator==(const LoggedEvent&) const = default;
};

struct EventSegment {
    std::string index;
    catalog::Serial first = 0;   // the segment holds every event of the index from here …
    catalog::Serial serial = 0;  // … up to here
    base::UnixMicros time = 0;
    std::string previous;  // the file with the events before `first`; empty: there are none
    std::vector<LoggedEvent> events;
    bool operator==(const EventSegment&) const = default;
};

// Events of one index in order, stored as rendered lines. A full read of the catalog has an event per file
// ever uploaded; as separate structs they would take three times the memory.
class EventLines {
  public:
    struct Line {
        catalog::Serial serial;
        base::UnixMicros time;
        std::string_view text;  // with its line feed
    };

    void add(catalog::Serial serial, base::UnixMicros time, std::string_view kind, std::string_view project,
             std::string_view filename);
    void add(const LoggedEvent& event) {
        add(event.serial, event.time, event.kind, event.project, event.filename);
    }
    [[nodiscard]] std::size_t size() const;
    template <typename See>
    base::Status for_each(See see) const {
        for (const auto& piece : pieces_) {
            std::size_t start = 0;
            for (const auto& mark : piece.marks) {
                const std::string_view text = std::string_view(piece.text).substr(start, mark.end - start);
                WHEELYARD_TRY(see(Line{mark.serial, mark.time, text}));
                start = mark.end;
            }
        }
        return {};
    }

  private:
    struct Mark {
        catalog::Serial serial;
        base::UnixMicros time;
        std::size_t end;  // offset of the line's end in the piece's text
    };
    // Holds as many events as a segment, so that growing never copies all events.
    struct Piece {
        std::string text;
        std::vector<Mark> marks;
    };
    void begin_piece();
    std::vector<Piece> pieces_;
};

[[nodiscard]] std::string render_event_segment(const EventSegment& segment);
// Reads untrusted text (a follower's source). Errors: "events.format", "events.line".
[[nodiscard]] base::Result<EventSegment> parse_event_segment(std::string_view text);

// Appends those of `events` that the log in `tree` lacks. `is_all`: `events` holds all events that ever
// happened; an unreadable log is then rebuilt, otherwise the error is "events.broken". The log's newest serial.
[[nodiscard]] base::Result<catalog::Serial> append_events(Disk& disk, const std::filesystem::path& tree,
                                                          const std::string& index, const EventLines& events,
                                                          bool is_all);

}  // namespace wheelyard::indexer
