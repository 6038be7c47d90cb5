// Applies the configuration file to a store that no server serves; its next start shows the change.
#pragma once

#include "lib/base/clock.hpp"
#include "lib/store/store.hpp"
#include "registry/api/index_api.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// Every referenced object outlives it.
class StoreIndexes final : public IndexService {
  public:
    // `settings` has the indexes that the next start would have.
    StoreIndexes(const RegistryConfig& settings, const database::Store& store, const base::Clock& clock)
        : settings_(settings), store_(store), clock_(clock) {}
    // "index.elsewhere": a server has the store, so that it has to make the change.
    [[nodiscard]] base::Result<IndexesChanged> apply(const IndexOrder& order) override;

  private:
    const RegistryConfig& settings_;
    const database::Store& store_;
    const base::Clock& clock_;
};

}  // namespace wheelyard::registry
