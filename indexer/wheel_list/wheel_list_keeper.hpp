// Updates the wheel lists of a served tree on its own thread: an upload is answered once its page is
// published, and the wheel list follows a moment later. There is no queue, only a flag, so several publish
// runs may share one update, and the next update waits ten times as long as the last one took, a minute at
// most: that of an index with a large project takes longer than an upload. The first update after a crash
// catches up.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/store.hpp"

namespace wheelyard::indexer {

class WheelListKeeper {
  public:
    // Brings the wheel lists up to date with the catalog. May throw; runs on the keeper's thread.
    using Update = std::function<base::Status()>;
    // A failed update is logged and retried after `retry_ms`.
    explicit WheelListKeeper(Update update, std::int64_t retry_ms = 5'000);
    WheelListKeeper(const WheelListKeeper&) = delete;
    WheelListKeeper& operator=(const WheelListKeeper&) = delete;
    ~WheelListKeeper();  // runs an update that was already requested

    void want();

  private:
    void run();

    Update update_;
    std::int64_t retry_ms_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool wanted_ = false;
    bool stopping_ = false;
    std::thread thread_;
};

// An update function for a registry's catalog and tree. It opens its own connection to the catalog. `store`
// must outlive it.
[[nodiscard]] WheelListKeeper::Update wheel_list_update(const database::Store& store,
                                                        const std::filesystem::path& tree,
                                                        base::Clock& clock);

}  // namespace wheelyard::indexer
