// The opened data folder of a configuration, with its publisher, for commands that run without or beside the
// server.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/lifecycle/perform.hpp"
#include "lib/store/store.hpp"
#include "registry/config/live_config.hpp"

namespace wheelyard::registry {

// Opens what publishing needs and returns the function that publishes: the indexer, which the registry itself
// does not know.
using OpenPublisher =
    std::function<base::Result<PublishFunction>(ConfigView, const database::Store&, const blobs::BlobStore&)>;

struct OpenedStore {
    RegistryConfig config;
    database::Store store;
    std::unique_ptr<blobs::BlobStore> blobs;
    std::unique_ptr<catalog::Catalog> catalog;
    PublishFunction publish;

    // Without what a promotion needs. Refers to this object, which must not move.
    [[nodiscard]] lifecycle::LifecycleParts place(const base::Clock& clock);
    // Publishes the pages, and waits for those of other nodes; an error if those of `files` could not be
    // updated.
    [[nodiscard]] base::Status show(const std::vector<catalog::FileName>& files) const;
};

enum class NewStore { refused, created };

// Opens the data folder of a configuration in force; creates one only with NewStore::created, as `serve`
// does.
[[nodiscard]] base::Result<std::unique_ptr<OpenedStore>> open_store(RegistryConfig config,
                                                                    const OpenPublisher& open_publisher,
                                                                    NewStore new_store = NewStore::refused);

}  // namespace wheelyard::registry
