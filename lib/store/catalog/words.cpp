// The words under which states, statuses and kinds of event are stored, shown and spoken. Stored words are
// never changed: old rows hold them.
#include "lib/base/text/words.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::catalog {
namespace {

constexpr auto file_states =
    base::words<FileState>({{FileState::active, "active"}, {FileState::quarantined, "quarantined"}});

constexpr auto project_statuses = base::words<ProjectStatus>({{ProjectStatus::active, "active"},
                                                              {ProjectStatus::archived, "archived"},
                                                              {ProjectStatus::quarantined, "quarantined"},
                                                              {ProjectStatus::deprecated, "deprecated"}});

constexpr auto event_kinds = base::words<EventKind>({
    {EventKind::file_added, "file_added"},
    {EventKind::file_yanked, "file_yanked"},
    {EventKind::file_unyanked, "file_unyanked"},
    {EventKind::file_deleted, "file_deleted"},
    {EventKind::file_quarantined, "file_quarantined"},
    {EventKind::file_released, "file_released"},
    {EventKind::file_promoted, "file_promoted"},
    {EventKind::file_pinned, "file_pinned"},
    {EventKind::file_unpinned, "file_unpinned"},
    {EventKind::project_status_changed, "project_status_changed"},
    {EventKind::blobs_collected, "blobs_collected"},
    {EventKind::index_changed, "index_changed"},
    {EventKind::project_released, "project_released"},
});

// The length of "2026-11-20".
constexpr std::size_t day_length = 10;

base::Result<base::UnixMicros> time_of(const std::string& text) {
    auto time = base::parse_rfc3339(text.size() == day_length ? text + "T00:00:00Z" : text);
    if (time) return time;
    return base::fail("audit.time", "This is neither a day nor a time", text,
                      "for example 2026-11-20 or 2026-11-20T12:00:00Z");
}

}  // namespace

base::Status read_times(const std::string& from, const std::string& until, EventFilter& filter) {
    if (!from.empty()) {
        WHEELYARD_ASSIGN(filter.from, time_of(from));
    }
    if (!until.empty()) {
        WHEELYARD_ASSIGN(filter.until, time_of(until));
        filter.until += until.size() == day_length ? base::day_us : 1;
    }
    return {};
}

std::string_view file_state_text(FileState state) {
    return file_states.text(state);
}
std::optional<FileState> parse_file_state(std::string_view text) {
    return file_states.find(text);
}
std::string_view project_status_text(ProjectStatus status) {
    return project_statuses.text(status);
}
std::optional<ProjectStatus> parse_project_status(std::string_view text) {
    return project_statuses.find(text);
}
std::string_view event_kind_text(EventKind kind) {
    return event_kinds.text(kind);
}
std::optional<EventKind> parse_event_kind(std::string_view text) {
    return event_kinds.find(text);
}

}  // namespace wheelyard::catalog
