// One look at the catalog after each change, by whichever process.
#include "registry/serve/other_commits.hpp"

#include <chrono>
#include <utility>

#include "lib/io/log.hpp"

namespace wheelyard::registry {
namespace {

// A look that finds nothing costs some microseconds (change_count()).
constexpr std::chrono::milliseconds between_looks(200);

}  // namespace

base::Result<std::unique_ptr<OtherCommits>> OtherCommits::follow(const database::Store& store,
                                                                 PublishQueue& pages) {
    WHEELYARD_ASSIGN(auto reader, store.reader());
    return std::unique_ptr<OtherCommits>(new OtherCommits(std::move(reader), pages));
}

OtherCommits::OtherCommits(std::unique_ptr<const catalog::Catalog> reader, PublishQueue& pages)
    : reader_(std::move(reader)), pages_(pages), thread_([this] { run(); }) {}

OtherCommits::~OtherCommits() {
    {
        const std::lock_guard lock(mutex_);
        stops_ = true;
    }
    stop_.notify_all();
    thread_.join();
}

base::Status OtherCommits::look() {
    WHEELYARD_ASSIGN(const std::int64_t count, reader_->change_count());
    if (count == seen_) return {};
    WHEELYARD_ASSIGN(const catalog::Serial serial, reader_->last_serial());
    seen_ = count;
    if (serial > pages_.lag().wanted) pages_.want(serial);
    return {};
}

void OtherCommits::run() {
    bool has_failed = false;
    std::unique_lock lock(mutex_);
    while (!stops_) {
        lock.unlock();
        const auto looked = look();
        if (!looked && !has_failed)
            io::log_warn("serve.changes_not_read", {{"error", looked.error().text()}});
        has_failed = !looked;
        lock.lock();
        stop_.wait_for(lock, between_looks, [this] { return stops_; });
    }
}

}  // namespace wheelyard::registry
