#include "indexer/publish/same_history.hpp"

#include <string>

namespace wheelyard::indexer {

base::Status check_same_history(const catalog::Catalog& catalog, const PublishedState& state,
                                const std::filesystem::path& tree) {
    WHEELYARD_ASSIGN(const auto history, catalog.compare_history({state.serial, state.time, state.kind}));
    if (history == catalog::HistoryOf::same) return {};
    if (history == catalog::HistoryOf::behind) {
        WHEELYARD_ASSIGN(const catalog::Serial last, catalog.last_serial());
        return base::fail_as(base::ErrorKind::conflict, base::Recovery::person,
                             {"publish.tree_ahead",
                              "The tree is at serial " + std::to_string(state.serial) +
                                  " but the catalog ends at " + std::to_string(last),
                              tree.native(),
                              "this is another catalog or an older copy of it; publish it into a new folder "
                              "and compare the two"});
    }
    return base::fail_as(base::ErrorKind::conflict, base::Recovery::person,
                         {"publish.other_catalog",
                          "The tree's serial " + std::to_string(state.serial) +
                              " is a different event in this catalog: their histories differ",
                          tree.native(),
                          "a catalog that was restored from a backup and then changed has its own history; "
                          "publish it into a new folder and compare the two"});
}

}  // namespace wheelyard::indexer
