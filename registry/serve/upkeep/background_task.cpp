#include "registry/serve/upkeep/background_task.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include "lib/io/log.hpp"

namespace wheelyard::registry {

BackgroundTask::BackgroundTask(std::int64_t first_delay_ms, std::int64_t pause_ms, Work work)
    : work_(std::move(work)), thread_([this, first_delay_ms, pause_ms] { run(first_delay_ms, pause_ms); }) {}

BackgroundTask::~BackgroundTask() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

bool BackgroundTask::is_stopping() const {
    const std::lock_guard lock(mutex_);
    return stopping_;
}

void BackgroundTask::wait(std::int64_t duration_ms) {
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::milliseconds(duration_ms), [this] { return stopping_; });
}

void BackgroundTask::run(std::int64_t first_delay_ms, std::int64_t pause_ms) {
    wait(first_delay_ms);
    while (!is_stopping()) {
        try {
            work_(clock_);
        } catch (const std::exception& error) {  // out of memory: the next run may have some
            io::log_error("upkeep.threw", {{"what", error.what()}});
        }
        wait(pause_ms);
    }
}

}  // namespace wheelyard::registry
