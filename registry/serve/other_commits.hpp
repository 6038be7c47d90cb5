// What another process commits beside the server (an import, a command on the data folder) is published
// within a second.
#pragma once

#include <cstdint>
#include <memory>

#include "lib/base/result.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/store.hpp"
#include "registry/serve/upkeep/background_task.hpp"

namespace wheelyard::registry {

// Follows the count of changes of the store, from the start until it is destroyed; every commit requests a
// publish run, if no run was requested for it already. Where other nodes commit all the time (`is_alone` is
// false), uploads wait for this look, and it waits for the database's hint. `pages` outlives it.
class OtherCommits {
  public:
    [[nodiscard]] static base::Result<std::unique_ptr<OtherCommits>> follow(const database::Store& store,
                                                                            PublishQueue& pages,
                                                                            bool is_alone);

  private:
    OtherCommits(std::unique_ptr<const catalog::Catalog> reader, PublishQueue& pages, bool is_alone);
    void look(base::Clock& clock);
    [[nodiscard]] base::Status request();

    const std::unique_ptr<const catalog::Catalog> reader_;
    PublishQueue& pages_;
    const std::int64_t wait_ms_;
    std::int64_t seen_ = -1;   // of change_count(), so that the first look counts
    bool has_failed_ = false;  // at the last look
    BackgroundTask task_;      // last: it uses all of the above
};

}  // namespace wheelyard::registry
