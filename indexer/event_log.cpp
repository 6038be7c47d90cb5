// A full tail is put aside under its own name before the new tail names it, so that a reader who goes back
// from tail to tail finds every event, whenever a run died.
#include "indexer/event_log.hpp"

#include <array>
#include <utility>

#include "indexer/limits.hpp"
#include "lib/base/text.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::indexer {

namespace fs = std::filesystem;
using io::Json;

namespace {

constexpr std::string_view format_name = "wheelyard.events/1";
constexpr std::size_t fields_of_event = 5;

tl::unexpected<base::Error> bad_line(std::string_view line) {
    return base::fail("events.line", "A line of an index's event log cannot be read",
                      std::string(line.substr(0, 200)), "it was cut or forged: fetch it again");
}

base::Result<LoggedEvent> parse_event(std::string_view line) {
    const auto fields = base::split(line, '\t');
    if (fields.size() < fields_of_event) return bad_line(line);
    const auto serial = base::parse_decimal(fields[0]);
    const auto time = base::parse_rfc3339(fields[1]);
    if (!serial || !time || fields[3].empty()) return bad_line(line);
    return LoggedEvent{static_cast<catalog::Serial>(*serial), *time, std::string(fields[2]),
                       std::string(fields[3]), std::string(fields[4])};
}

base::Result<EventSegment> read_tail(Disk& disk, const fs::path& file) {
    WHEELYARD_ASSIGN(const auto size, disk.size_of(file));
    if (!size) return EventSegment{};
    WHEELYARD_ASSIGN(const auto text, disk.read(file, longest_event_segment_bytes));
    return parse_event_segment(text);
}

std::string segment_name(const EventSegment& segment) {
    return std::to_string(segment.first) + ".tsv";
}

}  // namespace

std::string render_event_segment(const EventSegment& segment) {
    std::string text = Json::object({{"format", format_name},
                                     {"index", segment.index},
                                     {"first", segment.first},
                                     {"serial", segment.serial},
                                     {"time", base::render_rfc3339(segment.time)},
                                     {"previous", segment.previous}})
                           .render() +
                       "\n";
    for (const auto& event : segment.events) {
        text.append(std::to_string(event.serial)).append("\t");
        base::append_rfc3339(text, event.time);
        text.append("\t").append(event.kind).append("\t").append(event.project).append("\t");
        text.append(event.filename).append("\n");
    }
    return text;
}

base::Result<EventSegment> parse_event_segment(std::string_view text) {
    const auto lines = base::split_lines(text);
    if (lines.empty() || !text.ends_with('\n')) return bad_line(text);
    const auto head = io::parse_json(lines.front());
    if (!head) return bad_line(lines.front());
    const std::string format = head->string_or("format", "");
    if (format != format_name)
        return base::fail("events.format", "This event log has a format that is not known here", format,
                          "use a version of this program that is as new as the one that wrote it");
    EventSegment segment;
    WHEELYARD_ASSIGN(segment.index, head->string_at("index"));
    WHEELYARD_ASSIGN(segment.first, head->int_at("first"));
    WHEELYARD_ASSIGN(segment.serial, head->int_at("serial"));
    WHEELYARD_ASSIGN(const auto time, head->string_at("time"));
    WHEELYARD_ASSIGN(segment.time, base::parse_rfc3339(time));
    segment.previous = head->string_or("previous", "");
    for (std::size_t at = 1; at < lines.size(); ++at) {
        WHEELYARD_ASSIGN(auto event, parse_event(lines[at]));
        segment.events.push_back(std::move(event));
    }
    return segment;
}

base::Status append_events(Disk& disk, const fs::path& tree, const std::string& index,
                           std::vector<LoggedEvent> events, bool is_all) {
    const fs::path folder = tree / index / event_folder;
    auto tail = read_tail(disk, folder / event_tail);
    if (!tail && !is_all) {
        return base::fail(
            "events.broken", "The published event log of this index cannot be read",
            (folder / event_tail).native(),
            "`wheelyard-indexer check --store … --repair` writes it anew: " + tail.error().text());
    }
    EventSegment now = tail ? std::move(*tail) : EventSegment{};
    now.index = index;
    std::vector<NamedBytes> files;
    bool changed = false;
    for (auto& event : events) {
        if (event.serial <= now.serial) continue;
        if (now.events.size() >= events_a_segment) {
            files.push_back({segment_name(now), render_event_segment(now)});
            now.previous = files.back().name;
            now.events.clear();
        }
        if (now.events.empty()) now.first = event.serial;
        now.serial = event.serial;
        now.time = event.time;
        now.events.push_back(std::move(event));
        changed = true;
    }
    if (!changed) return {};
    files.push_back({std::string(event_tail), render_event_segment(now)});
    WHEELYARD_TRY(disk.make_directories(folder));
    WHEELYARD_TRY(disk.remove_leftovers(folder));
    if (files.size() < bulk_from_segments) return disk.replace_together(folder, files);
    WHEELYARD_TRY(disk.begin_bulk(tree));
    WHEELYARD_TRY(disk.replace_together(folder, files));
    return disk.end_bulk();
}

}  // namespace wheelyard::indexer
