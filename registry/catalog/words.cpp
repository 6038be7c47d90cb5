// The words under which states, statuses and kinds of event are stored, shown and spoken. Stored words are
// never changed: old rows hold them.
#include <array>

#include "lib/base/check.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::catalog {
namespace {

template <typename Value>
struct Word {
    Value value;
    std::string_view text;
};

constexpr std::array file_states{Word<FileState>{FileState::active, "active"},
                                 Word<FileState>{FileState::quarantined, "quarantined"}};

constexpr std::array project_statuses{Word<ProjectStatus>{ProjectStatus::active, "active"},
                                      Word<ProjectStatus>{ProjectStatus::archived, "archived"},
                                      Word<ProjectStatus>{ProjectStatus::quarantined, "quarantined"},
                                      Word<ProjectStatus>{ProjectStatus::deprecated, "deprecated"}};

constexpr std::array event_kinds{
    Word<EventKind>{EventKind::file_added, "file_added"},
    Word<EventKind>{EventKind::file_yanked, "file_yanked"},
    Word<EventKind>{EventKind::file_unyanked, "file_unyanked"},
    Word<EventKind>{EventKind::file_deleted, "file_deleted"},
    Word<EventKind>{EventKind::file_quarantined, "file_quarantined"},
    Word<EventKind>{EventKind::file_released, "file_released"},
    Word<EventKind>{EventKind::file_promoted, "file_promoted"},
    Word<EventKind>{EventKind::file_pinned, "file_pinned"},
    Word<EventKind>{EventKind::file_unpinned, "file_unpinned"},
    Word<EventKind>{EventKind::project_status_changed, "project_status_changed"},
    Word<EventKind>{EventKind::blobs_collected, "blobs_collected"},
    Word<EventKind>{EventKind::index_changed, "index_changed"},
};

template <typename Table, typename Value>
std::string_view text_of(const Table& table, Value value) {
    for (const auto& word : table) {
        if (word.value == value) return word.text;
    }
    WHEELYARD_CHECK(false);  // a value without a row
    return {};
}

template <typename Value, typename Table>
std::optional<Value> value_of(const Table& table, std::string_view text) {
    for (const auto& word : table) {
        if (word.text == text) return word.value;
    }
    return std::nullopt;
}

}  // namespace

std::string_view file_state_text(FileState state) {
    return text_of(file_states, state);
}
std::optional<FileState> parse_file_state(std::string_view text) {
    return value_of<FileState>(file_states, text);
}
std::string_view project_status_text(ProjectStatus status) {
    return text_of(project_statuses, status);
}
std::optional<ProjectStatus> parse_project_status(std::string_view text) {
    return value_of<ProjectStatus>(project_statuses, text);
}
std::string_view event_kind_text(EventKind kind) {
    return text_of(event_kinds, kind);
}
std::optional<EventKind> parse_event_kind(std::string_view text) {
    return value_of<EventKind>(event_kinds, text);
}

}  // namespace wheelyard::catalog
