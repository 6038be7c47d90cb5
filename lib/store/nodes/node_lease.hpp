// The right of this node to answer from its pages. It is a lease on the board that a thread renews each
// second (lease_states.hpp).
//
// The node's own end of the lease is the time read *before* the renewal, plus the lease, less a margin: it is
// always before the end that the writer sees. A request is checked after it has arrived and before its page
// is read, so a process that was stopped in between gives no page from before an upload that was answered
// meanwhile.
//
// While the database answers no node, none can acknowledge an upload. For a time that the operator sets nodes
// then go on reading after their leases, and say so. Each asks the others first: whom the database answers
// may have newer pages.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/nodes/lease_states.hpp"
#include "lib/store/nodes/limits.hpp"
#include "lib/store/nodes/node_board.hpp"
#include "lib/store/nodes/node_clock.hpp"

namespace wheelyard::nodes {

struct LeaseSettings {
    std::int64_t lease_ms = default_lease_s * 1000;
    // As long as it has seen no other node: it answers without a lease, too, so its pages outlast the
    // database.
    bool serves_on = false;
    std::int64_t read_on_ms =
        0;  // how long it reads since the database last answered; 0: until its lease ends
};

// What a lease needs of the rest of the node. Called on the lease's thread.
struct LeaseHooks {
    std::function<base::Result<Serial>()> newest;  // of the catalog
    std::function<void(Serial)> show;              // requests a publish run; note_shown() follows
    // Requests a publish run that begins now, compares the histories of pages and catalog, and shows the
    // newest event; calls `then` on any thread once one succeeded, after its note_shown().
    std::function<void(std::function<void()> then)> show_newest;
    std::function<bool()> is_awaited;         // whether an upload waits for other nodes
    std::function<void(Serial)> others_show;  // every node with a live lease shows this, of what is committed
    std::function<bool()> is_writer;
    std::function<bool()> sees_blobs =
        {};  // whether the store of the wheels answers this node; empty: it does
    std::function<SharedSettings()> tables = {};  // of its row; empty: none
    // Says whether one of the nodes at these addresses says that the database answers it. May take seconds.
    std::function<bool(const std::vector<std::string>&)> is_any_connected = {};
};

// The database answers this node no more; times of the wall clock.
struct Outage {
    base::UnixMicros since = 0;  // the pages show all that was committed then
    base::UnixMicros until = 0;  // when it stops reading
};

class NodeLease {
  public:
    // `board` and `clock` outlive it. `row` needs a name, an address, a place and settings. It does nothing
    // before start().
    NodeLease(NodeBoard& board, const NodeClock& clock, NodeRow row, LeaseSettings settings,
              LeaseHooks hooks);
    ~NodeLease();  // as stop()
    NodeLease(const NodeLease&) = delete;
    NodeLease& operator=(const NodeLease&) = delete;

    void start();  // the thread; with a board for one it needs none
    void stop();   // ends it and leaves the board

    // Any thread; two clock reads.
    [[nodiscard]] bool may_answer() const;
    // While the database is away and it may go on reading. Ask it before may_answer(): it begins earlier. Any
    // thread; fast.
    [[nodiscard]] std::optional<Outage> outage() const;
    // The pages show every event up to this one. Any thread.
    void note_shown(Serial serial);
    // The pages are of another history than the catalog: from now on nothing is answered, until they were
    // shown again.
    void forget_shown();
    // After each publish run: how many pages lack a blob that this node does not find, and whether the run
    // showed less than it should. Where another node does better for as long as a lease, this one leaves
    // until it does as well. Any thread.
    void note_troubles(std::int64_t lost, bool is_behind);
    // False: something is wrong with this node alone. It leaves the others, and answers nothing until it is
    // true again, for which a publish run is requested each second. Any thread.
    void set_fit(bool is_fit);
    // There is something to look at: an upload waits, the role has changed. Any thread.
    void wake();

    // One step of the thread; returns the milliseconds until the next one. For tests.
    std::int64_t turn();

    struct Seen {
        LeaseState state = LeaseState::away;
        std::int64_t left_ms = 0;       // of the lease; 0: ended
        std::uint64_t lapses = 0;       // leases that ended although the process lived
        std::string last_failure = {};  // of the last step; empty: it succeeded
        std::optional<WritingNode> writer = {};
        std::int64_t clock_ahead_ms = 0;  // of the database's, at the last renewal; below 0: behind it
        bool is_clock_off = false;        // by more than max_clock_difference_ms
    };
    [[nodiscard]] Seen seen() const;
    // It left because another node sees more. Any thread.
    [[nodiscard]] bool is_blind() const { return state_ == LeaseState::blind; }
    [[nodiscard]] const std::string& id() const { return row_.id; }
    [[nodiscard]] const NodeRow& row() const { return row_; }  // before start()

  private:
    struct Shown {
        Serial serial = -1;         // -1: no page is published yet
        std::uint64_t history = 0;  // one more for each forget_shown()
        bool operator==(const Shown&) const = default;
    };
    void run();
    [[nodiscard]] base::Status step();
    [[nodiscard]] base::Status catch_up();
    [[nodiscard]] base::Status join();
    [[nodiscard]] base::Status check_sight();
    [[nodiscard]] bool note_sees_less(const Renewed& others, std::int64_t now_us);
    [[nodiscard]] std::int64_t count_lost() const;
    [[nodiscard]] base::Status renew();
    [[nodiscard]] base::Status ask_others();
    void compare_clocks(std::int64_t ahead_ms);
    [[nodiscard]] bool is_renewal_due() const;
    [[nodiscard]] bool has_lease() const;
    [[nodiscard]] bool lives(std::int64_t end_us, std::int64_t lead_us) const;
    // Without it a renewal has failed: the node would go on beside others that it does not know.
    [[nodiscard]] base::Status look_at_others();
    void read_on(const base::Status& done);
    void stop_reading();
    unsigned take(LeaseEvent event);
    [[nodiscard]] Shown shown() const;

    NodeBoard& board_;
    const NodeClock& clock_;
    const LeaseSettings settings_;
    const LeaseHooks hooks_;
    // Used by the thread alone.
    NodeRow row_;
    bool may_have_row_ = false;
    Serial target_ = -1;                                    // away: what has to be shown first; -1: not known
    std::shared_ptr<std::atomic<bool>> newest_shown_ = {};  // joining: set once the run has succeeded
    Shown renewed_;                                         // as the last renewal told it
    bool renewed_as_writer_ = false;
    std::int64_t renewed_at_us_ = 0;
    std::int64_t others_unknown_until_us_ = 0;
    bool has_failed_ = false;
    std::int64_t sees_less_since_us_ = 0;  // than another node; 0: it does not
    Serial missed_ = none_is_live;         // another node shows it, and this one does not
    std::int64_t missed_since_us_ = 0;
    std::vector<std::string> others_ = {};     // the addresses of the other nodes, as last seen
    base::UnixMicros renewed_at_wall_us_ = 0;  // as renewed_at_us_

    std::atomic<LeaseState> state_ = LeaseState::away;  // written by the thread alone

    // What may_answer() reads.
    std::atomic<std::int64_t> end_us_ = 0;   // by CLOCK_BOOTTIME; 0: it may not answer
    std::atomic<std::int64_t> lead_us_ = 0;  // of the wall clock before CLOCK_BOOTTIME, at the renewal
    // What pages that it had a lease for are good for without one.
    enum class WithoutLease { nothing, reading, serving };
    std::atomic<WithoutLease> without_lease_ = WithoutLease::nothing;
    std::atomic<std::int64_t> reads_until_us_ = 0, reads_lead_us_ = 0;  // as end_us_ and lead_us_
    std::atomic<base::UnixMicros> outage_since_us_ = 0;  // of outage(); 0: the database answers
    std::atomic<bool> is_fit_ = true;

    std::atomic<bool> is_run_requested_ = false;  // while it is not fit, or blind
    std::atomic<std::int64_t> lost_ = 0;
    std::atomic<bool> is_behind_ = false;

    mutable std::mutex mutex_;  // guards all below, and what raises end_us_
    std::condition_variable wake_;
    Shown shown_;
    Seen seen_;
    bool is_woken_ = false;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace wheelyard::nodes
