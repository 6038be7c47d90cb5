// "Uploaded" means "installable": uploads wait here until the pages that show them are out. One thread
// publishes; waiting uploads are served together (one publish run may cover many commits).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::registry {

// Publishes everything committed so far and returns the serial that is now visible. main.cpp wires the
// indexer in here.
using PublishFunction = std::function<base::Result<catalog::Serial>()>;

class PublishQueue {
  public:
    explicit PublishQueue(PublishFunction publish);
    ~PublishQueue();  // finishes the run under way
    // Returns once `serial` is visible; an error when publishing failed or `timeout_ms` passed (the commit
    // stands: the caller answers 503 and the identical retry waits again).
    [[nodiscard]] base::Status wait_until_visible(catalog::Serial serial, std::int64_t timeout_ms);

  private:
    void run();
    PublishFunction publish_;
    std::mutex mutex_;
    std::condition_variable wake_publisher_;
    std::condition_variable wake_waiters_;
    catalog::Serial wanted_ = 0;
    catalog::Serial visible_ = 0;
    std::uint64_t failures_ = 0;
    base::Error last_failure_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace wheelyard::registry
