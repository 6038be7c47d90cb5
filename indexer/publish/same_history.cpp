#include "indexer/publish/same_history.hpp"

#include <string>
#include <utility>

namespace wheelyard::indexer {

base::Result<std::optional<catalog::Event>> event_at(const catalog::Catalog& catalog,
                                                     catalog::Serial serial) {
    if (serial == 0) return std::nullopt;
    WHEELYARD_ASSIGN(auto events, catalog.events_after(serial - 1, 1));
    if (events.empty() || events.front().serial != serial) return std::nullopt;
    return std::move(events.front());
}

base::Status check_same_history(const catalog::Catalog& catalog, const PublishedState& state,
                                const std::filesystem::path& tree) {
    WHEELYARD_ASSIGN(const catalog::Serial last, catalog.last_serial());
    if (state.serial > last) {
        return base::fail_as(base::ErrorKind::conflict, base::Recovery::person,
                             {"publish.tree_ahead",
                              "The tree is at serial " + std::to_string(state.serial) +
                                  " but the catalog ends at " + std::to_string(last),
                              tree.native(),
                              "this is another catalog or an older copy of it; publish it into a new folder "
                              "and compare the two"});
    }
    if (state.time == 0) return {};
    WHEELYARD_ASSIGN(const auto event, event_at(catalog, state.serial));
    if (event && event->time == state.time && catalog::event_kind_text(event->kind) == state.kind) return {};
    return base::fail_as(base::ErrorKind::conflict, base::Recovery::person,
                         {"publish.other_catalog",
                          "The tree's serial " + std::to_string(state.serial) +
                              " is a different event in this catalog: their histories differ",
                          tree.native(),
                          "a catalog that was restored from a backup and then changed has its own history; "
                          "publish it into a new folder and compare the two"});
}

}  // namespace wheelyard::indexer
