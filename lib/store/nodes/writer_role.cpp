#include "lib/store/nodes/writer_role.hpp"

#include <chrono>
#include <cstdint>
#include <limits>
#include <utility>

#include "lib/io/log.hpp"

namespace wheelyard::nodes {

namespace {

constexpr std::int64_t writer_margin_ms = 1'000;

}  // namespace

WriterRole::WriterRole(WriterLock& lock, const NodeClock& clock, std::int64_t lease_ms,
                       std::function<void()> changed, std::function<bool()> is_able)
    : lock_(lock),
      clock_(clock),
      lease_ms_(lease_ms),
      changed_(std::move(changed)),
      is_able_(std::move(is_able)) {}

WriterRole::~WriterRole() {
    stop();
}

void WriterRole::start() {
    turn();
    if (end_us_ != std::numeric_limits<std::int64_t>::max()) thread_ = std::thread([this] { run(); });
}

void WriterRole::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    end_us_ = 0;
    if (!std::exchange(is_held_, false)) return;
    if (const auto released = lock_.release(); !released)  // the database frees it with the connection
        io::log_warn("node.role_not_released", {{"error", released.error().text()}});
}

void WriterRole::run() {
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, std::chrono::milliseconds(renewal_ms), [this] { return stopping_; })) {
        lock.unlock();
        turn();
        lock.lock();
    }
}

WriterRole::Seen WriterRole::seen() const {
    const std::lock_guard lock(mutex_);
    Seen seen = seen_;
    seen.is_writer = may_write();
    return seen;
}

void WriterRole::turn() {
    const base::Status done = step();
    const bool can_write = may_write();
    {
        const std::lock_guard lock(mutex_);
        seen_.is_waiting = is_held_ && waits_until_us_ != 0;
        seen_.last_failure = done ? std::string() : done.error().sentence;
    }
    if (!done && could_write_) io::log_warn("node.role_lost", {{"error", done.error().text()}});
    if (can_write == std::exchange(could_write_, can_write)) return;
    io::log_info(can_write ? "node.is_writer" : "node.is_no_writer");
    if (changed_) changed_();
}

base::Status WriterRole::step() {
    if (is_able_ && !is_able_()) {
        end_us_ = 0;
        waits_until_us_ = 0;
        return std::exchange(is_held_, false) ? lock_.release() : base::Status();
    }
    const std::int64_t before_us = clock_.boot_us();
    const auto kept = lock_.take_or_keep();
    const bool had_it = std::exchange(is_held_, kept && kept->is_held);
    if (!is_held_) {
        end_us_ = 0;
        waits_until_us_ = 0;
        return kept ? base::Status() : base::fail(kept.error());
    }
    if (!had_it) {
        waits_until_us_ = kept->is_after_failover ? clock_.boot_us() + lease_ms_ * 1'000 : 0;
        const std::lock_guard lock(mutex_);
        ++seen_.taken;
    }
    if (waits_until_us_ != 0) {
        if (before_us < waits_until_us_) return {};
        WHEELYARD_TRY(lock_.note_waited());
        waits_until_us_ = 0;
    }
    end_us_.store(kept->is_for_good ? std::numeric_limits<std::int64_t>::max()
                                    : before_us + (writer_idle_ms - writer_margin_ms) * 1'000,
                  std::memory_order_release);
    return {};
}

}  // namespace wheelyard::nodes
