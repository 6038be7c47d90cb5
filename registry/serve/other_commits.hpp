// What another process commits beside the server (an import, a command on the data folder) is published within a second.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "lib/base/result.hpp"
#include "registry/commit/publishing.hpp"
#include "registry/database/store.hpp"

namespace wheelyard::registry {

// Follows the count of changes of the store on a thread of its own, from the start until it is destroyed; every commit
// requests a publish run, if no run was requested for it already. `pages` outlives it.
class OtherCommits {
  public:
    [[nodiscard]] static base::Result<std::unique_ptr<OtherCommits>> follow(const database::Store& store,
                                                                            PublishQueue& pages);
    ~OtherCommits();
    OtherCommits(const OtherCommits&) = delete;
    OtherCommits& operator=(const OtherCommits&) = delete;

  private:
    OtherCommits(std::unique_ptr<const catalog::Catalog> reader, PublishQueue& pages);
    void run();
    [[nodiscard]] base::Status look();

    const std::unique_ptr<const catalog::Catalog> reader_;
    PublishQueue& pages_;
    std::int64_t seen_ = -1;  // of change_count(), so that the first look counts
    std::mutex mutex_;        // guards stops_
    std::condition_variable stop_;
    bool stops_ = false;
    std::thread thread_;
};

}  // namespace wheelyard::registry
