#include "indexer/wheel_list/wheel_list_keeper.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "indexer/wheel_list/wheel_list_file.hpp"
#include "lib/io/log.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::indexer {

namespace {

constexpr int rest_factor = 10;  // pause = 10 × the update's duration: about a tenth of a core
constexpr std::chrono::minutes max_rest{1};

base::Status update_without_throwing(const WheelListKeeper::Update& update) {
    try {
        return update();
    } catch (const std::exception& error) {
        return base::fail("catalogue.threw", "Writing the wheel lists failed unexpectedly", error.what());
    }
}

}  // namespace

WheelListKeeper::WheelListKeeper(Update update, std::int64_t retry_ms)
    : update_(std::move(update)), retry_ms_(retry_ms) {
    thread_ = std::thread([this] { run(); });
}

WheelListKeeper::~WheelListKeeper() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    thread_.join();
}

void WheelListKeeper::want() {
    {
        const std::lock_guard lock(mutex_);
        wanted_ = true;
    }
    wake_.notify_all();
}

void WheelListKeeper::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return wanted_ || stopping_; });
        if (!wanted_) return;
        wanted_ = false;
        lock.unlock();
        const auto began = std::chrono::steady_clock::now();
        const auto updated = update_without_throwing(update_);
        const auto took = std::chrono::steady_clock::now() - began;
        lock.lock();
        if (updated) {
            wake_.wait_for(lock, std::min<std::chrono::nanoseconds>(took * rest_factor, max_rest),
                           [this] { return stopping_; });
            continue;
        }
        io::log_error("catalogue.failed", {{"error", updated.error().text()}});
        // Shutdown does not wait for a failing disk; the next start catches up.
        if (wake_.wait_for(lock, std::chrono::milliseconds(retry_ms_), [this] { return stopping_; })) return;
        wanted_ = true;
    }
}

WheelListKeeper::Update wheel_list_update(const database::Store& store, const std::filesystem::path& tree,
                                          base::Clock& clock) {
    return
        [opened = std::shared_ptr<const catalog::Catalog>(), &store, tree, &clock]() mutable -> base::Status {
            if (!opened) {
                WHEELYARD_ASSIGN(opened, store.reader());
            }
            return update_wheel_lists_waiting(*opened, tree, clock);
        };
}

}  // namespace wheelyard::indexer
