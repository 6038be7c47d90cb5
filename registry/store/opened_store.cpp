#include "registry/store/opened_store.hpp"

#include <utility>

#include "lib/base/files/file.hpp"
#include "lib/store/lifecycle/store_identity.hpp"
#include "lib/store/nodes/node_board.hpp"

namespace wheelyard::registry {

lifecycle::LifecycleParts OpenedStore::place(const base::Clock& clock) {
    return {.on_catalog = [this](const lifecycle::CatalogWork& work) { return work(*catalog); },
            .blobs = *blobs,
            .clock = clock,
            .store = config.blob_place().text(),
            .config = config.file};
}

base::Status OpenedStore::show(const std::vector<catalog::FileName>& files) const {
    WHEELYARD_ASSIGN(const Published published, publish(RootPages::all));
    for (const LaggingPage& page : published.lagging) {
        for (const catalog::FileName& file : files) {
            if (page.index == file.index && (page.filename.empty() || page.filename == file.filename))
                return base::fail(page.error);
        }
    }
    WHEELYARD_ASSIGN(const auto board, store.node_board());
    WHEELYARD_ASSIGN(const catalog::Serial newest, catalog->last_serial());
    base::SystemClock clock;
    return nodes::wait_shown(*board, newest, clock, config.server.page_wait_ms + config.node.lease_ms);
}

base::Result<std::unique_ptr<OpenedStore>> open_store(RegistryConfig config,
                                                      const OpenPublisher& open_publisher,
                                                      NewStore new_store) {
    database::Store store(config.database());
    const bool creates = new_store == NewStore::created;
    if (creates)
        WHEELYARD_TRY(base::make_directories(config.store));
    else
        WHEELYARD_TRY(store.find_catalog());
    WHEELYARD_ASSIGN(auto blobs, blobs::open_blob_store(config.blob_place()));
    WHEELYARD_ASSIGN(auto catalog, store.writer());
    auto opened = std::make_unique<OpenedStore>(
        OpenedStore{std::move(config), std::move(store), std::move(blobs), std::move(catalog), {}});
    const base::SystemClock clock;
    const auto claim = lifecycle::claim_store(opened->place(clock));
    if (!claim && lifecycle::is_of_store(claim.error())) return base::fail(claim.error());
    WHEELYARD_ASSIGN(opened->publish, open_publisher(opened->config, opened->store, *opened->blobs));
    return opened;
}

}  // namespace wheelyard::registry
