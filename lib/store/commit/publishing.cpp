#include "lib/store/commit/publishing.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <future>
#include <memory>
#include <utility>

#include "lib/io/log.hpp"

namespace wheelyard::registry {

namespace {

base::Result<Published> publish_without_throwing(const PublishFunction& publish, RootPages roots) {
    try {
        return publish(roots);
    } catch (const std::exception& error) {
        return base::fail("publish.threw", "Publishing failed unexpectedly", error.what());
    }
}

constexpr std::chrono::milliseconds max_retry{60'000};

// As indexer/publish reports a blob that is lost or damaged.
bool lacks_blob(const LaggingPage& page) {
    return page.error.recovery == base::Recovery::person;
}

}  // namespace

PublishQueue::PublishQueue(PublishFunction publish, std::int64_t first_retry_ms, std::int64_t late_roots_ms)
    : publish_(std::move(publish)),
      first_retry_(first_retry_ms),
      retry_(first_retry_),
      late_roots_(late_roots_ms) {
    thread_ = std::thread([this] { run(); });
}

PublishQueue::~PublishQueue() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_publisher_.notify_all();
    roots_tried_.notify_all();
    thread_.join();
    for (const Waiter& waiter : waiters_)
        waiter.then(*verdict(waiter));  // when stopping, verdict() always has a value
}

void PublishQueue::want_locked(catalog::Serial serial) {
    if (serial > wanted_ && wanted_ <= visible_) behind_since_ = std::chrono::steady_clock::now();
    wanted_ = std::max(wanted_, serial);
    asked_ = true;
    wake_publisher_.notify_one();
}

void PublishQueue::want(catalog::Serial serial) {
    const std::lock_guard lock(mutex_);
    want_locked(serial);
}

void PublishQueue::want_pages() {
    const std::lock_guard lock(mutex_);
    are_pages_wanted_ = true;
    // Counted as one late root page: these are written when such are.
    if (late_roots_.count() == 0) late_roots_.note_left(1, std::chrono::steady_clock::now());
    wake_publisher_.notify_one();
}

// The reply to a waiter if it is known by now. Only another run can show a lagging page, and a failure counts
// only if that run covered the waiter's serial: a run that began before the commit does not matter to it.
std::optional<base::Status> PublishQueue::verdict(const Waiter& waiter) const {
    if (waiter.rebuilt_before != rebuilt_)
        return base::fail(
            "publish.history_lost",
            "The database was replaced by one with another history, in which this may be missing", {},
            "send it again");
    const LaggingPage* const lagging = find_lagging(waiter.page);
    const bool is_shown_here = visible_ >= waiter.serial && lagging == nullptr;
    if (is_shown_here && others_show_ >= waiter.serial) return base::Status();
    if (visible_ >= waiter.serial && lagging != nullptr && runs_ != waiter.runs_before)
        return base::fail(lagging->error);
    if (!is_shown_here && !waiter.outlasts_failures && failures_ != waiter.failures_before &&
        failed_up_to_ >= waiter.serial)
        return base::fail(last_failure_);
    if (stopping_)
        return base::fail("publish.stopping", "The registry is stopping", {}, "try again after the restart");
    return std::nullopt;
}

void PublishQueue::call_when_visible(catalog::Serial serial, PageOf page, WhenVisible then) {
    add_waiter(serial, std::move(page), std::move(then), false);
}

void PublishQueue::call_despite_failures(catalog::Serial serial, std::function<void()> then) {
    const auto if_visible = [then = std::move(then)](const base::Status& visible) {
        if (visible) then();
    };
    add_waiter(serial, {}, if_visible, true);
}

void PublishQueue::add_waiter(catalog::Serial serial, PageOf page, WhenVisible then, bool outlasts_failures) {
    std::unique_lock lock(mutex_);
    Waiter waiter{serial, std::move(page), runs_, failures_, std::move(then), outlasts_failures, rebuilt_};
    const auto known = verdict(waiter);
    if (known) {
        lock.unlock();
        waiter.then(*known);
        return;
    }
    if (serial > visible_ || !lagging_.empty()) want_locked(serial);
    waiters_.push_back(std::move(waiter));
    const auto awaited = visible_ >= serial ? observer_.awaited : nullptr;
    lock.unlock();
    if (awaited) awaited();
}

void PublishQueue::call_after_next_run(std::function<void()> then) {
    const std::lock_guard lock(mutex_);
    after_runs_.emplace_back(begun_ + 1, std::move(then));
    asked_ = true;
    wake_publisher_.notify_one();
}

void PublishQueue::wait_for_others(QueueObserver observer) {
    std::unique_lock lock(mutex_);
    observer_ = std::move(observer);
    others_show_ = -1;
    if (visible_ >= 0 && !is_page_left()) {  // no run may follow
        const auto shown = observer_.shown;
        const catalog::Serial serial = visible_;
        lock.unlock();
        shown(serial);
    }
}

void PublishQueue::note_others_show(catalog::Serial serial) {
    std::unique_lock lock(mutex_);
    if (serial <= others_show_) return;
    others_show_ = serial;
    answer_waiters(lock);
}

bool PublishQueue::awaits_others() const {
    const std::lock_guard lock(mutex_);
    return std::any_of(waiters_.begin(), waiters_.end(), [this](const Waiter& waiter) {
        return visible_ >= waiter.serial && others_show_ < waiter.serial;
    });
}

base::Status PublishQueue::wait_until_visible(catalog::Serial serial, std::int64_t timeout_ms, PageOf page) {
    // Shared: the callback may run after the timeout.
    const auto answer = std::make_shared<std::promise<base::Status>>();
    auto result = answer->get_future();
    call_when_visible(serial, std::move(page),
                      [answer](const base::Status& status) { answer->set_value(status); });
    if (result.wait_for(std::chrono::milliseconds(timeout_ms)) == std::future_status::ready)
        return result.get();
    return base::fail("publish.slow", "The pages are not published yet", "serial " + std::to_string(serial),
                      "try again in a moment");
}

bool PublishQueue::write_late_roots() {
    std::unique_lock lock(mutex_);
    if (late_roots_.count() == 0) return true;
    const std::uint64_t failed_before = failed_root_runs_;
    are_roots_wanted_ = true;
    wake_publisher_.notify_one();
    roots_tried_.wait(
        lock, [&] { return stopping_ || late_roots_.count() == 0 || failed_root_runs_ != failed_before; });
    return late_roots_.count() == 0;
}

// Calls back without the lock: a callback may call this queue.
void PublishQueue::answer_waiters(std::unique_lock<std::mutex>& lock) {
    std::vector<std::pair<Waiter, base::Status>> answered;
    std::erase_if(waiters_, [&](Waiter& waiter) {
        const auto known = verdict(waiter);
        if (known) answered.emplace_back(std::move(waiter), *known);
        return known.has_value();
    });
    if (answered.empty()) return;
    lock.unlock();
    for (const auto& [waiter, status] : answered)
        waiter.then(status);
    lock.lock();
}

PublishQueue::Lag PublishQueue::lag() const {
    const std::lock_guard lock(mutex_);
    const TimePoint now = std::chrono::steady_clock::now();
    Lag lag{.visible = visible_, .wanted = wanted_, .lagging_pages = lagging_.size()};
    lag.failures = failures_ + failed_root_runs_;
    lag.damaged_pages = static_cast<std::size_t>(std::count_if(lagging_.begin(), lagging_.end(), lacks_blob));
    lag.late_roots = late_roots_.count();
    lag.roots_since_ms = late_roots_.behind_ms(now);
    if (wanted_ > visible_) {
        const auto behind = now - behind_since_;
        lag.since_ms = std::chrono::duration_cast<std::chrono::milliseconds>(behind).count();
        if (failed_up_to_ > visible_) lag.last_failure = last_failure_.sentence;
    }
    return lag;
}

std::size_t PublishQueue::waiting() const {
    const std::lock_guard lock(mutex_);
    return waiters_.size();
}

// Returns when there is work that was requested, or whose time has come: a retry after a failure, or deferred
// root pages.
void PublishQueue::wait_for_work(std::unique_lock<std::mutex>& lock) {
    while (!stopping_) {
        const bool is_behind = wanted_ > visible_ || !lagging_.empty() || !after_runs_.empty();
        if ((is_behind && asked_) || (are_roots_wanted_ && late_roots_.count() > 0)) return;
        std::optional<TimePoint> due;
        if (is_behind) due = retry_at_;
        if (late_roots_.count() > 0) due = std::min(due.value_or(TimePoint::max()), late_roots_.due_at());
        if (!due) {
            wake_publisher_.wait(lock);
        } else if (wake_publisher_.wait_until(lock, *due) == std::cv_status::timeout) {
            return;
        }
    }
}

const LaggingPage* PublishQueue::find_lagging(const PageOf& page) const {
    for (const LaggingPage& lagging : lagging_) {
        if (lagging.index == page.index && (page.project.empty() || lagging.project == page.project) &&
            (page.filename.empty() || lagging.filename.empty() || lagging.filename == page.filename))
            return &lagging;
    }
    return nullptr;
}

void PublishQueue::retry_later() {
    retry_at_ = std::chrono::steady_clock::now() + retry_;
    retry_ = std::min(retry_ * 2, max_retry);
}

void PublishQueue::note_lagging() {
    for (const LaggingPage& page : lagging_)
        io::log_error("publish.lagging", {{"index", page.index},
                                          {"project", page.project},
                                          {"filename", page.filename},
                                          {"error", page.error.text()}});
    retry_later();
}

void PublishQueue::note_failure(catalog::Serial covered, base::Error error) {
    io::log_error("publish.failed", {{"error", error.text()}, {"retry_ms", std::to_string(retry_.count())}});
    last_failure_ = std::move(error);
    failed_up_to_ = covered;
    ++failures_;
    retry_later();
}

void PublishQueue::run_once(std::unique_lock<std::mutex>& lock, RootPages roots) {
    catalog::Serial covered = wanted_;
    const std::uint64_t run = ++begun_;
    asked_ = false;
    const bool were_pages_wanted = are_pages_wanted_;
    if (roots == RootPages::all) are_pages_wanted_ = are_roots_wanted_ = false;
    lock.unlock();
    const TimePoint began = std::chrono::steady_clock::now();
    auto published = publish_without_throwing(publish_, roots);
    const TimePoint ended = std::chrono::steady_clock::now();
    spent_.add(ended - began);
    lock.lock();
    if (!published && roots == RootPages::all) {
        // The failure may be limited to a root page: run again without root pages, which answers the waiters.
        io::log_error("publish.root_failed", {{"error", published.error().text()}});
        late_roots_.note_failed(ended);
        ++failed_root_runs_;
        roots_tried_.notify_all();
        are_pages_wanted_ = are_pages_wanted_ || were_pages_wanted;
        asked_ = true;
        return;
    }
    if (published && published->is_rebuilt) {
        ++rebuilt_;
        visible_ = wanted_ = covered = published->serial;
        others_show_ = std::min<catalog::Serial>(others_show_, observer_.shown ? -1 : others_show_);
    }
    if (published) {
        visible_ = std::max(visible_, published->serial);
        lagging_ = std::move(published->lagging);
        note_lost(ended);
        ++runs_;
        if (roots == RootPages::all) late_roots_.note_written(began, ended);
        late_roots_.note_left(std::max<std::size_t>(published->late_roots, are_pages_wanted_ ? 1 : 0), ended);
        roots_tried_.notify_all();
    }
    if (published && visible_ < covered) {
        published = base::fail("publish.lags", "A publish run ended before the newest commit",
                               std::to_string(published->serial));
    }
    const bool has_succeeded = published.has_value();
    if (published && !lagging_.empty()) {
        note_lagging();
    } else if (published) {
        retry_ = first_retry_;
    } else {
        note_failure(covered, std::move(published.error()));
    }
    answer_waiters(lock);
    const bool is_behind = !has_succeeded || is_page_left();
    tell_troubles(is_behind, lock);
    if (!is_behind) tell_shown(run, lock);
}

void PublishQueue::note_lost(TimePoint now) {
    const auto before = std::exchange(lost_since_, {});
    for (const LaggingPage& page : lagging_) {
        if (!lacks_blob(page)) continue;
        const std::array key{page.index, page.project, page.filename};
        const auto known = before.find(key);
        lost_since_.emplace(key, known != before.end() ? known->second : now);
    }
}

void PublishQueue::tell_troubles(bool is_behind, std::unique_lock<std::mutex>& lock) const {
    if (!observer_.troubled) return;
    const auto troubled = observer_.troubled;
    const std::size_t lost = lost_since_.size();
    lock.unlock();
    troubled(lost, is_behind);
    lock.lock();
}

// Another run cannot show a page that lacks a lost or damaged blob; no node can, once it has been lost for a
// while.
bool PublishQueue::is_page_left() const {
    const TimePoint lost_before =
        std::chrono::steady_clock::now() - std::chrono::milliseconds(observer_.lost_after_ms);
    return lagging_.size() > lost_since_.size() ||
           std::any_of(lost_since_.begin(), lost_since_.end(),
                       [lost_before](const auto& lost) { return lost.second > lost_before; });
}

void PublishQueue::tell_shown(std::uint64_t run, std::unique_lock<std::mutex>& lock) {
    std::vector<std::function<void()>> calls;
    if (observer_.shown) calls.push_back([shown = observer_.shown, serial = visible_] { shown(serial); });
    std::erase_if(after_runs_, [&](auto& waiting) {
        if (waiting.first > run) return false;
        calls.push_back(std::move(waiting.second));
        return true;
    });
    if (calls.empty()) return;
    lock.unlock();
    for (const auto& call : calls)
        call();
    lock.lock();
}

// Leaves a complete tree behind for other readers; if this fails, the next start completes it.
void PublishQueue::write_late_roots_at_last(std::unique_lock<std::mutex>& lock) {
    if (late_roots_.count() == 0) return;
    lock.unlock();
    if (const auto published = publish_without_throwing(publish_, RootPages::all); !published)
        io::log_error("publish.root_failed", {{"error", published.error().text()}});
    lock.lock();
}

void PublishQueue::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        wait_for_work(lock);
        if (stopping_) return write_late_roots_at_last(lock);
        const bool with_late = are_roots_wanted_ || late_roots_.are_due(std::chrono::steady_clock::now());
        run_once(lock, with_late ? RootPages::all : RootPages::prompt);
    }
}

namespace {

constexpr int root_rest_factor = 10;  // pause = 10 × the last write's duration: about a tenth of the time
constexpr std::int64_t max_root_rest_ms = 60'000;  // longest pause, also between failed tries

using Duration = LateRoots::TimePoint::duration;
constexpr Duration max_rest = std::chrono::milliseconds(max_root_rest_ms);

}  // namespace

void LateRoots::note_left(std::size_t count, TimePoint now) {
    if (count_ == 0 && count > 0) {
        since_ = now;
        due_at_ = std::max(now + delay_, rest_until_);
    }
    count_ = count;
}

void LateRoots::note_written(TimePoint began, TimePoint now) {
    count_ = 0;
    retry_ = delay_;
    rest_until_ = now + std::min((now - began) * root_rest_factor, max_rest);
}

void LateRoots::note_failed(TimePoint now) {
    due_at_ = now + retry_;
    retry_ = std::chrono::duration_cast<std::chrono::milliseconds>(std::min<Duration>(retry_ * 2, max_rest));
}

std::int64_t LateRoots::behind_ms(TimePoint now) const {
    if (count_ == 0) return 0;
    return std::chrono::duration_cast<std::chrono::milliseconds>(now - since_).count();
}

}  // namespace wheelyard::registry
