#include "registry/publishing.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "lib/io/log.hpp"

namespace wheelyard::registry {
namespace {

base::Result<catalog::Serial> publish_without_throwing(const PublishFunction& publish) {
    try {
        return publish();
    } catch (const std::exception& error) {
        return base::fail("publish.threw", "Publishing failed unexpectedly", error.what());
    }
}

}  // namespace

PublishQueue::PublishQueue(PublishFunction publish) : publish_(std::move(publish)) {
    thread_ = std::thread([this] { run(); });
}

PublishQueue::~PublishQueue() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_publisher_.notify_all();
    wake_waiters_.notify_all();
    thread_.join();
}

base::Status PublishQueue::wait_until_visible(catalog::Serial serial, std::int64_t timeout_ms) {
    std::unique_lock lock(mutex_);
    const std::uint64_t failures_before = failures_;
    wanted_ = std::max(wanted_, serial);
    wake_publisher_.notify_one();
    const bool woken = wake_waiters_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [&] {
        return visible_ >= serial || failures_ != failures_before || stopping_;
    });
    if (visible_ >= serial) return {};
    if (woken && failures_ != failures_before) return base::fail(last_failure_);
    if (stopping_)
        return base::fail("publish.stopping", "The registry is stopping", {}, "try again when it is back");
    return base::fail("publish.slow", "The pages are not out yet", "serial " + std::to_string(serial),
                      "try again in a moment");
}

// A failed run drops the wish for its serials; the next call of wait_until_visible wishes again. So a full
// disk is tried once an upload and not in a circle.
void PublishQueue::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_publisher_.wait(lock, [this] { return stopping_ || wanted_ > visible_; });
        if (stopping_) return;
        const catalog::Serial wanted = wanted_;
        lock.unlock();
        auto published = publish_without_throwing(publish_);
        lock.lock();
        if (published && *published < wanted)
            published = base::fail("publish.lags", "A publish run ended before the newest commit",
                                   std::to_string(*published));
        if (published) {
            visible_ = std::max(visible_, *published);
        } else {
            io::log_error("publish.failed", {{"error", published.error().text()}});
            last_failure_ = published.error();
            ++failures_;
            wanted_ = visible_;
        }
        wake_waiters_.notify_all();
    }
}

}  // namespace wheelyard::registry
