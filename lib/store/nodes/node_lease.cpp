#include "lib/store/nodes/node_lease.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/io/log.hpp"

namespace wheelyard::nodes {
namespace {

constexpr std::size_t id_bytes = 8;
constexpr std::int64_t pause_after_failure_ms = 250;
constexpr std::int64_t forever_us = std::numeric_limits<std::int64_t>::max();

// Says whether the wall clock was set, or the machine frozen: CLOCK_BOOTTIME alone may not have counted that.
bool has_jumped(std::int64_t lead_before_us, std::int64_t lead_us) {
    return std::abs(lead_us - lead_before_us) > lease_margin_ms * 1'000;
}

bool is_no_answer(const base::Error& error) {
    return error.kind == base::ErrorKind::unreachable || error.kind == base::ErrorKind::unavailable ||
           error.kind == base::ErrorKind::lost;
}

}  // namespace

NodeLease::NodeLease(NodeBoard& board, const NodeClock& clock, NodeRow row, LeaseSettings settings,
                     LeaseHooks hooks)
    : board_(board), clock_(clock), settings_(settings), hooks_(std::move(hooks)), row_(std::move(row)) {
    row_.id = base::encode_hex(base::random_bytes(id_bytes));
    if (board_.is_alone()) {
        state_ = LeaseState::serving;
        end_us_ = forever_us;
    }
}

NodeLease::~NodeLease() {
    stop();
}

void NodeLease::start() {
    if (!board_.is_alone()) thread_ = std::thread([this] { run(); });
}

void NodeLease::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) thread_.join();
    end_us_ = 0;
    without_lease_ = WithoutLease::nothing;
    stop_reading();
    if (!std::exchange(may_have_row_, false)) return;
    if (const auto left = board_.leave(row_.id); !left)  // the others wait one lease
        io::log_warn("node.not_left", {{"error", left.error().text()}});
}

void NodeLease::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        is_woken_ = false;
        lock.unlock();
        const std::int64_t pause_ms = turn();
        lock.lock();
        wake_.wait_for(lock, std::chrono::milliseconds(pause_ms), [this] { return stopping_ || is_woken_; });
    }
}

bool NodeLease::may_answer() const {
    return is_fit_.load(std::memory_order_acquire) &&
           (has_lease() || without_lease_.load(std::memory_order_acquire) == WithoutLease::serving ||
            lives(reads_until_us_.load(std::memory_order_acquire), reads_lead_us_));
}

std::optional<Outage> NodeLease::outage() const {
    const base::UnixMicros since = outage_since_us_.load(std::memory_order_acquire);
    if (since == 0) return std::nullopt;
    return Outage{since, since + settings_.read_on_ms * 1'000};
}

bool NodeLease::has_lease() const {
    const std::int64_t end_us = end_us_.load(std::memory_order_acquire);
    return end_us == forever_us || lives(end_us, lead_us_.load(std::memory_order_relaxed));
}

bool NodeLease::lives(std::int64_t end_us, std::int64_t lead_us) const {
    const std::int64_t now_us = clock_.boot_us();
    return now_us < end_us && !has_jumped(lead_us, clock_.wall_us() - now_us);
}

void NodeLease::note_shown(Serial serial) {
    const std::lock_guard lock(mutex_);
    if (serial <= shown_.serial) return;
    shown_.serial = serial;
    is_woken_ = true;
    wake_.notify_all();
}

void NodeLease::forget_shown() {
    const std::lock_guard lock(mutex_);
    shown_ = {.serial = -1, .history = shown_.history + 1};
    if (!board_.is_alone()) end_us_ = 0;
    without_lease_ = WithoutLease::nothing;
    stop_reading();
    is_woken_ = true;
    wake_.notify_all();
}

void NodeLease::note_troubles(std::int64_t lost, bool is_behind) {
    is_behind_ = is_behind;
    if (lost_.exchange(lost) != lost) wake();
}

void NodeLease::set_fit(bool is_fit) {
    if (is_fit_.exchange(is_fit) != is_fit) wake();
}

void NodeLease::wake() {
    const std::lock_guard lock(mutex_);
    is_woken_ = true;
    wake_.notify_all();
}

NodeLease::Shown NodeLease::shown() const {
    const std::lock_guard lock(mutex_);
    return shown_;
}

NodeLease::Seen NodeLease::seen() const {
    const std::lock_guard lock(mutex_);
    Seen seen = seen_;
    seen.state = state_;
    const std::int64_t end_us = end_us_;
    if (end_us != forever_us) seen.left_ms = std::max<std::int64_t>(0, (end_us - clock_.boot_us()) / 1'000);
    return seen;
}

// The row of the board goes with the lease: a node that does not answer keeps no upload waiting.
unsigned NodeLease::take(LeaseEvent event) {
    const LeaseTransition* row = find_transition(state_, event);
    if (row == nullptr) return none;
    if (row->why != nullptr) io::log_warn("node.lease_ended", {{"why", row->why}, {"node", row_.name}});
    state_ = row->to;
    const bool leaves = (row->actions & leave) != 0, forgets = (row->actions & forget) != 0;
    {
        const std::lock_guard lock(mutex_);
        if (forgets && without_lease_ == WithoutLease::reading) without_lease_ = WithoutLease::nothing;
        if (leaves) end_us_ = 0;
        if (leaves && row->from == LeaseState::serving) ++seen_.lapses;
    }
    if (!leaves) return row->actions;
    target_ = -1;
    newest_shown_.reset();
    sees_less_since_us_ = 0;
    if (may_have_row_ && board_.leave(row_.id)) may_have_row_ = false;
    return row->actions;
}

std::int64_t NodeLease::turn() {
    if (board_.is_alone()) return renewal_ms;
    if (!has_lease()) take(LeaseEvent::lapsed);
    if (!is_fit_) take(LeaseEvent::unfit);
    const base::Status done = step();
    {
        const std::lock_guard lock(mutex_);
        seen_.last_failure = done ? std::string() : done.error().sentence;
    }
    if (!done && !has_failed_) io::log_warn("node.not_renewed", {{"error", done.error().text()}});
    // What failed in between may have been a failover.
    if (done && has_failed_ && state_ == LeaseState::serving) hooks_.show_newest([] {});
    has_failed_ = !done;
    read_on(done);
    if (!done) return is_blind() ? renewal_ms : pause_after_failure_ms;
    if (hooks_.is_awaited()) return board_poll_ms;
    if (state_ == LeaseState::away || is_blind()) return renewal_ms;
    const std::int64_t since_ms = (clock_.boot_us() - renewed_at_us_) / 1'000;
    return std::clamp<std::int64_t>(renewal_ms - since_ms, 1, renewal_ms);
}

base::Status NodeLease::step() {
    if (state_ == LeaseState::away || is_blind()) WHEELYARD_TRY(catch_up());
    if (state_ == LeaseState::joining) WHEELYARD_TRY(join());
    if (state_ == LeaseState::serving && is_renewal_due()) WHEELYARD_TRY(renew());
    if (is_blind())
        return base::fail(
            "node.sees_less", "Other nodes show files that this one cannot",
            std::to_string(count_lost()) + " missing",
            "see publish.lagging and publish.failed in its log: its way to the wheels, or its disk");
    return ask_others();
}

// Without a row, so that no upload waits for a node that renders a whole tree.
base::Status NodeLease::catch_up() {
    if (is_fit_) WHEELYARD_TRY(check_sight());
    if (!is_fit_ || is_blind()) {
        if (!is_run_requested_.exchange(true)) hooks_.show_newest([this] { is_run_requested_ = false; });
        return {};
    }
    if (target_ < 0) {
        WHEELYARD_ASSIGN(target_, hooks_.newest());
        hooks_.show(target_);
    }
    if (shown().serial >= target_) take(LeaseEvent::caught_up);
    return {};
}

// A store that does not answer counts like a page.
std::int64_t NodeLease::count_lost() const {
    return lost_ + (!hooks_.sees_blobs || hooks_.sees_blobs() ? 0 : 1);
}

// Notes since when; true once it is as long as a lease. Of a run that fails, the time counts from when
// another node showed what this one does not: uploads have waited for it since then, while the run tried the
// store again and again.
bool NodeLease::note_sees_less(const Renewed& others, std::int64_t now_us) {
    const Serial own = shown().serial, most = others.most_visible.value_or(-1);
    if (own >= missed_ || most < missed_) {
        missed_ = most > own ? most : none_is_live;
        missed_since_us_ = now_us;
    }
    const bool lacks_files = others.least_lost && count_lost() > *others.least_lost;
    const bool lacks_runs = is_behind_ && missed_ != none_is_live;
    if (!lacks_files && !lacks_runs)
        sees_less_since_us_ = 0;
    else if (sees_less_since_us_ == 0)
        sees_less_since_us_ = lacks_runs ? missed_since_us_ : now_us;
    return sees_less_since_us_ != 0 && now_us - sees_less_since_us_ >= settings_.lease_ms * 1'000;
}

// Of a node without a lease, which may still be the one that writes: its runs may hang in a store that the
// others see.
base::Status NodeLease::check_sight() {
    Renewed others;
    WHEELYARD_ASSIGN(const auto seen, board_.nodes());
    stop_reading();  // at once: uploads may be acknowledged again
    for (const auto& [row, left_ms] : seen) {
        others.most_visible = std::max(others.most_visible.value_or(0), row.visible);
        others.least_lost = std::min(others.least_lost.value_or(row.lost), row.lost);
    }
    if (note_sees_less(others, clock_.boot_us())) take(LeaseEvent::sees_less);
    if (sees_less_since_us_ == 0) take(LeaseEvent::sees_again);
    return {};
}

// A node that is waited for does not know yet what was answered before its row was there: it shows the newest
// event first.
base::Status NodeLease::join() {
    if (is_renewal_due()) WHEELYARD_TRY(renew());
    if (state_ != LeaseState::joining) return {};
    if (newest_shown_ == nullptr) {
        // Each of two that start at once has written its row before it looks for the other's.
        WHEELYARD_ASSIGN(const auto seen, board_.nodes());
        if (base::Status alike = check_alike(row_, seen); !alike) {
            take(LeaseEvent::unlike);  // the next turn tries again
            return alike;
        }
        newest_shown_ = std::make_shared<std::atomic<bool>>(false);
        hooks_.show_newest([this, done = newest_shown_] {
            *done = true;
            wake();
        });
    }
    if (!*newest_shown_) return {};
    take(LeaseEvent::newest_shown);
    const Shown now = shown();
    WHEELYARD_TRY(renew());
    if (state_ == LeaseState::serving)
        io::log_info("node.serves", {{"node", row_.name}, {"serial", std::to_string(now.serial)}});
    return {};
}

bool NodeLease::is_renewal_due() const {
    return !may_have_row_ || renewed_ != shown() || renewed_as_writer_ != hooks_.is_writer() ||
           clock_.boot_us() - renewed_at_us_ >= renewal_ms * 1'000;
}

base::Status NodeLease::renew() {
    const Shown now = shown();
    row_.visible = std::max<Serial>(now.serial, 0);
    row_.is_writer = hooks_.is_writer();
    row_.lost = count_lost();
    if (hooks_.tables) row_.tables = hooks_.tables();
    const std::int64_t before_us = clock_.boot_us();
    const std::int64_t lead_us = clock_.wall_us() - before_us;
    const bool had_row = std::exchange(may_have_row_, true);
    WHEELYARD_ASSIGN(const Renewed renewed, board_.renew(row_, settings_.lease_ms));
    const bool is_other_database = !row_.timeline.empty() && row_.timeline != renewed.timeline;
    row_.timeline = renewed.timeline;
    compare_clocks((before_us + lead_us - renewed.time) / 1'000);
    {
        const std::lock_guard lock(mutex_);
        seen_.writer = renewed.writer;
    }
    const LeaseEvent event = is_other_database                    ? LeaseEvent::failed_over
                             : had_row && !renewed.was_live       ? LeaseEvent::row_ended
                             : note_sees_less(renewed, before_us) ? LeaseEvent::sees_less
                                                                  : LeaseEvent::renewed;
    // Renewals of other nodes may be lost in a failover: they may answer for one more lease.
    if (is_other_database) others_unknown_until_us_ = clock_.boot_us() + settings_.lease_ms * 1'000;
    const bool extends = take(event) == extend;
    if (event != LeaseEvent::renewed) return {};
    const bool outlasts = settings_.serves_on || settings_.read_on_ms > 0;
    if (extends && outlasts) WHEELYARD_TRY(look_at_others());
    renewed_ = now;
    renewed_as_writer_ = row_.is_writer;
    renewed_at_us_ = before_us;
    renewed_at_wall_us_ = before_us + lead_us;
    const std::lock_guard lock(mutex_);
    if (!extends || now.history != shown_.history) return {};  // forgotten meanwhile
    lead_us_ = lead_us;
    without_lease_ = settings_.read_on_ms > 0                 ? WithoutLease::reading
                     : settings_.serves_on && others_.empty() ? WithoutLease::serving
                                                              : WithoutLease::nothing;
    end_us_.store(before_us + (settings_.lease_ms - lease_margin_ms) * 1'000, std::memory_order_release);
    return {};
}

// Leases need no wall clock, but tokens end by it.
void NodeLease::compare_clocks(std::int64_t ahead_ms) {
    const bool was_off = seen_.is_clock_off;  // only this thread writes it
    // It ends at half, so that a clock at the limit is not told at each renewal.
    const bool is_off = std::abs(ahead_ms) > max_clock_difference_ms / (was_off ? 2 : 1);
    {
        const std::lock_guard lock(mutex_);
        seen_.clock_ahead_ms = ahead_ms;
        seen_.is_clock_off = is_off;
    }
    if (is_off == was_off) return;
    const auto tell = is_off ? io::log_warn : io::log_info;
    tell(is_off ? "node.clock_differs" : "node.clock_agrees",
         {{"node", row_.name}, {"seconds_ahead_of_database", std::to_string(ahead_ms / 1'000)}});
}

// One that was killed counts until its lease has ended.
base::Status NodeLease::look_at_others() {
    WHEELYARD_ASSIGN(const auto seen, board_.nodes());
    others_.clear();
    for (const SeenNode& node : seen) {
        if (node.row.id != row_.id) others_.push_back(node.row.address);
    }
    return {};
}

void NodeLease::stop_reading() {
    reads_until_us_ = 0;
    outage_since_us_ = 0;
}

// After each turn. It begins before the lease ends, so that no time is without answers; `outage` is told
// first, so that of two nodes each learns that the other one is cut off, too.
void NodeLease::read_on(const base::Status& done) {
    const std::int64_t now_us = clock_.boot_us();
    const std::int64_t end_us = renewed_at_us_ + settings_.read_on_ms * 1'000;
    if (done || !is_no_answer(done.error()) || is_blind() || without_lease_ != WithoutLease::reading ||
        now_us >= end_us)
        return stop_reading();
    if (outage_since_us_.exchange(renewed_at_wall_us_) == 0)
        io::log_warn("node.reads_on", {{"node", row_.name}, {"error", done.error().text()}});
    const bool is_alone_cut = hooks_.is_any_connected && hooks_.is_any_connected(others_);
    const std::int64_t lead_us = clock_.wall_us() - now_us;
    const std::lock_guard lock(mutex_);
    if (without_lease_ != WithoutLease::reading) return stop_reading();  // forgotten meanwhile
    reads_lead_us_ = lead_us;
    reads_until_us_.store(is_alone_cut ? 0 : std::min(end_us, now_us + reading_grant_ms * 1'000),
                          std::memory_order_release);
}

// Asked after the own pages were read: what they show was committed before, and a node that joins later reads
// it.
base::Status NodeLease::ask_others() {
    if (!hooks_.is_awaited() || clock_.boot_us() < others_unknown_until_us_) return {};
    const Shown own = shown();
    WHEELYARD_ASSIGN(const Serial lowest, board_.lowest_visible(row_.timeline));
    if (own == shown()) hooks_.others_show(std::min(lowest, own.serial));
    return {};
}

}  // namespace wheelyard::nodes
