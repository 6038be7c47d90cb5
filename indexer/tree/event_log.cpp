// A full tail is written under its own name before the new tail refers to it. A reader that follows
// `previous` from tail to tail finds every event, even if a run is killed at any point.
#include "indexer/tree/event_log.hpp"

#include <array>
#include <utility>

#include "indexer/tree/limits.hpp"
#include "lib/base/text/printable.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;
using io::Json;

namespace {

constexpr std::string_view events_format = "wheelyard.events/1";
constexpr std::size_t fields_of_event = 5;

tl::unexpected<base::Error> bad_line(std::string_view line) {
    return base::fail("events.line", "Malformed line in an index's event log",
                      std::string(line.substr(0, 200)), "it was truncated or altered; fetch it again");
}

base::Result<LoggedEvent> parse_event(std::string_view line) {
    const auto fields = base::split(line, '\t');
    if (fields.size() < fields_of_event) return bad_line(line);
    const auto serial = base::parse_decimal(fields[0]);
    const auto time = base::parse_rfc3339(fields[1]);
    const bool is_serial = serial && *serial <= static_cast<std::uint64_t>(max_event_serial);
    if (!is_serial || !time || fields[3].empty()) return bad_line(line);
    // The log is a text that people read on terminals.
    for (const std::string_view field : {fields[2], fields[3], fields[4]}) {
        if (base::printable(field) != field) return bad_line(line);
    }
    return LoggedEvent{static_cast<catalog::Serial>(*serial), *time, std::string(fields[2]),
                       std::string(fields[3]), std::string(fields[4])};
}

base::Result<EventSegment> read_tail(Disk& disk, const fs::path& file) {
    WHEELYARD_ASSIGN(const auto size, disk.size_of(file));
    if (!size) return EventSegment{};
    WHEELYARD_ASSIGN(const auto text, disk.read(file, max_event_segment_bytes));
    return parse_event_segment(text);
}

std::string segment_name(const EventSegment& segment) {
    return std::to_string(segment.first) + ".tsv";
}

// The first line of the segment, followed by `lines`.
std::string render_segment(const EventSegment& segment, std::string_view lines) {
    std::string text = Json::object({{"format", events_format},
                                     {"index", segment.index},
                                     {"first", segment.first},
                                     {"serial", segment.serial},
                                     {"time", base::render_rfc3339(segment.time)},
                                     {"previous", segment.previous}})
                           .render() +
                       "\n";
    return text.append(lines);
}

void append_line(std::string& text, catalog::Serial serial, base::UnixMicros time, std::string_view kind,
                 std::string_view project, std::string_view filename) {
    text.append(std::to_string(serial)).append("\t");
    base::append_rfc3339(text, time);
    text.append("\t").append(kind).append("\t").append(project).append("\t").append(filename).append("\n");
}

std::string render_lines(const std::vector<LoggedEvent>& events) {
    std::string text;
    for (const auto& event : events)
        append_line(text, event.serial, event.time, event.kind, event.project, event.filename);
    return text;
}

// Writes the log's files in order. Many files are synced together in bulk mode: to be synced singly, all of
// them would have to stay open until the last is written.
class SegmentFiles {
  public:
    SegmentFiles(Disk& disk, const fs::path& tree, std::string folder)
        : disk_(disk), tree_(tree), folder_(std::move(folder)) {}

    base::Status begin(bool in_bulk) {
        in_bulk_ = in_bulk;
        WHEELYARD_TRY(disk_.make_directories(folder_));
        WHEELYARD_TRY(disk_.remove_leftovers(folder_));
        return in_bulk_ ? disk_.begin_bulk(tree_) : base::Status{};
    }
    base::Status add(std::string name, std::string text) {
        files_.push_back({std::move(name), std::move(text)});
        return in_bulk_ ? write() : base::Status{};
    }
    base::Status end() { return in_bulk_ ? disk_.end_bulk() : write(); }

  private:
    base::Status write() {
        WHEELYARD_TRY(disk_.replace_together(folder_, files_));
        files_.clear();
        return {};
    }

    Disk& disk_;
    const fs::path& tree_;
    std::string folder_;
    bool in_bulk_ = false;
    std::vector<NamedBytes> files_;
};

}  // namespace

void EventLines::add(catalog::Serial serial, base::UnixMicros time, std::string_view kind,
                     std::string_view project, std::string_view filename) {
    if (pieces_.empty() || pieces_.back().marks.size() == events_per_segment) begin_piece();
    auto& [text, marks] = pieces_.back();
    append_line(text, serial, time, kind, project, filename);
    marks.push_back({serial, time, text.size()});
}

// Reserves about as much as the previous piece has, so that the text rarely reallocates.
void EventLines::begin_piece() {
    const std::size_t bytes = pieces_.empty() ? 0 : pieces_.back().text.size();
    Piece& piece = pieces_.emplace_back();
    if (bytes == 0) return;
    piece.text.reserve(bytes + bytes / 16);
    piece.marks.reserve(events_per_segment);
}

std::size_t EventLines::size() const {
    if (pieces_.empty()) return 0;
    return (pieces_.size() - 1) * events_per_segment + pieces_.back().marks.size();
}

std::string render_event_segment(const EventSegment& segment) {
    return render_segment(segment, render_lines(segment.events));
}

base::Result<EventSegment> parse_event_segment(std::string_view text) {
    const auto lines = base::split_lines(text);
    if (lines.empty() || !text.ends_with('\n')) return bad_line(text);
    const auto head = io::parse_json(lines.front());
    if (!head) return bad_line(lines.front());
    const std::string format = head->string_or("format", "");
    if (format != events_format)
        return base::fail("events.format", "Unsupported event log format", format,
                          "upgrade this program to the version that wrote it");
    EventSegment segment;
    WHEELYARD_ASSIGN(segment.index, head->string_at("index"));
    WHEELYARD_ASSIGN(segment.first, head->int_at("first"));
    WHEELYARD_ASSIGN(segment.serial, head->int_at("serial"));
    for (const catalog::Serial serial : {segment.first, segment.serial}) {
        if (serial < 0 || serial > max_event_serial) return bad_line(lines.front());
    }
    WHEELYARD_ASSIGN(const auto time, head->string_at("time"));
    WHEELYARD_ASSIGN(segment.time, base::parse_rfc3339(time));
    segment.previous = head->string_or("previous", "");
    for (std::size_t at = 1; at < lines.size(); ++at) {
        WHEELYARD_ASSIGN(auto event, parse_event(lines[at]));
        segment.events.push_back(std::move(event));
    }
    return segment;
}

base::Result<catalog::Serial> append_events(Disk& disk, const fs::path& tree, const std::string& index,
                                            const EventLines& events, bool is_all) {
    const fs::path folder = tree / index / event_folder;
    auto tail = read_tail(disk, folder / event_tail);
    if (!tail && !is_all) {
        return base::fail("events.broken", "The published event log of this index is unreadable",
                          (folder / event_tail).native(),
                          "`wheelyard-indexer check --store … --repair` rebuilds it: " + tail.error().text());
    }
    EventSegment now = tail ? std::move(*tail) : EventSegment{};
    now.index = index;
    std::string lines = render_lines(now.events);
    std::size_t count = now.events.size();
    SegmentFiles files(disk, tree, folder.native());
    bool has_begun = false;
    const auto take = [&](const EventLines::Line& line) -> base::Status {
        if (line.serial <= now.serial) return {};
        if (!has_begun) {
            WHEELYARD_TRY(files.begin(events.size() >= bulk_from_segments * events_per_segment));
            has_begun = true;
        }
        if (count >= events_per_segment) {
            const std::string name = segment_name(now);
            WHEELYARD_TRY(files.add(name, render_segment(now, lines)));
            now.previous = name;
            lines.clear();
            count = 0;
        }
        if (count == 0) now.first = line.serial;
        now.serial = line.serial;
        now.time = line.time;
        lines.append(line.text);
        ++count;
        return {};
    };
    WHEELYARD_TRY(events.for_each(take));
    if (has_begun) {
        WHEELYARD_TRY(files.add(std::string(event_tail), render_segment(now, lines)));
        WHEELYARD_TRY(files.end());
    }
    return now.serial;
}

}  // namespace wheelyard::indexer
