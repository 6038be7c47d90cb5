// Which node writes: the one whose connection holds the writer's lock. The holder shows the database each
// second that it lives, and ends its right itself before the database would free the lock of a holder that is
// silent. After a failover it waits one lease before it writes: until then the board may lack what other
// nodes were promised.
//
// The lock orders no commits: each transaction takes the catalog's own. The role says who accepts uploads and
// changes, runs the upkeep, and asks upstreams.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "lib/store/nodes/limits.hpp"
#include "lib/store/nodes/node_board.hpp"
#include "lib/store/nodes/node_clock.hpp"

namespace wheelyard::nodes {

class WriterRole {
  public:
    // `lock` and `clock` outlive it. `changed` is called on its thread when it got the role or lost it; while
    // `is_able` is false, it leaves the role to others.
    WriterRole(WriterLock& lock, const NodeClock& clock, std::int64_t lease_ms,
               std::function<void()> changed = {}, std::function<bool()> is_able = {});
    ~WriterRole();  // as stop()
    WriterRole(const WriterRole&) = delete;
    WriterRole& operator=(const WriterRole&) = delete;

    // Takes the role now if it is free, then keeps trying on a thread.
    void start();
    void stop();  // releases the lock

    // Any thread; a clock read.
    [[nodiscard]] bool may_write() const {
        return clock_.boot_us() < end_us_.load(std::memory_order_acquire);
    }
    void turn();  // one step of the thread, for tests

    struct Seen {
        bool is_writer = false;
        bool is_waiting = false;        // it has the lock, and one lease has to pass
        std::uint64_t taken = 0;        // times that it got the lock
        std::string last_failure = {};  // empty: the last try succeeded
    };
    [[nodiscard]] Seen seen() const;

  private:
    void run();
    [[nodiscard]] base::Status step();

    WriterLock& lock_;
    const NodeClock& clock_;
    const std::int64_t lease_ms_;
    const std::function<void()> changed_;
    const std::function<bool()> is_able_;  // empty: always
    bool is_held_ = false;
    std::int64_t waits_until_us_ = 0;  // 0: it does not wait
    bool could_write_ = false;
    std::atomic<std::int64_t> end_us_ = 0;

    mutable std::mutex mutex_;  // guards all below
    std::condition_variable wake_;
    Seen seen_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace wheelyard::nodes
