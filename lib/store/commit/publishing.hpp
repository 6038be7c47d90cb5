// "Uploaded" means "installable": an upload waits here until the pages that show it are published. One thread
// publishes; one run may cover many commits and answers all their waiters. The same thread writes large root
// pages, which no install reads, after the waiters are answered.
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/base/spent.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::registry {

// When the large root pages are written: the schedule alone, no I/O.

// Schedules the large root pages that publish runs defer. They are written a short delay after the first
// missing name, so that a burst of uploads shares one write, and rarely enough that they take a small part of
// the publisher's time, because uploads wait for the same thread. See docs/explanation/decisions/0010.
class LateRoots {
  public:
    using TimePoint = std::chrono::steady_clock::time_point;

    explicit LateRoots(std::int64_t delay_ms) : delay_(delay_ms) {}

    // A run with RootPages::prompt ended and left `count` root pages unwritten.
    void note_left(std::size_t count, TimePoint now);
    // A run with RootPages::all succeeded; it took from `began` until `now`.
    void note_written(TimePoint began, TimePoint now);
    // A run with RootPages::all failed: retry after a delay that doubles each time.
    void note_failed(TimePoint now);

    [[nodiscard]] std::size_t count() const { return count_; }
    [[nodiscard]] TimePoint due_at() const { return due_at_; }  // valid while count() > 0
    [[nodiscard]] bool are_due(TimePoint now) const { return count_ > 0 && now >= due_at_; }
    [[nodiscard]] std::int64_t behind_ms(TimePoint now) const;

  private:
    const std::chrono::milliseconds delay_;
    std::chrono::milliseconds retry_ = delay_;
    std::size_t count_ = 0;
    TimePoint since_{};
    TimePoint due_at_{};
    TimePoint rest_until_{};
};

inline constexpr std::int64_t root_delay_ms =
    1'000;  // of deferred root pages: uploads of one burst share a write

// A page that a publish run could not update although the rest of the run succeeded. An empty filename means
// the project's pages.
struct LaggingPage {
    std::string index;
    std::string project;
    std::string filename;
    base::Error error;
};
struct Published {
    catalog::Serial serial = 0;
    std::vector<LaggingPage> lagging = {};
    std::size_t late_roots = 0;  // root pages that a run with RootPages::prompt deferred
    // The tree was of another history than the catalog and was made again: serials from before it mean
    // nothing.
    bool is_rebuilt = false;
    Published(catalog::Serial shown = 0) : serial(shown) {}  // nothing lags
};
// The page a caller waits for; failures of other pages do not fail it. Empty fields are wildcards: without a
// filename, all files and pages of the project; without a project, all of the index.
struct PageOf {
    std::string index;
    std::string project;
    std::string filename;
};

// Which root pages a run writes: all that lack a name, or only those that cannot be deferred.
enum class RootPages { all, prompt };

// Publishes everything committed so far and returns the serial that is now visible. The indexer provides
// it; the serve command connects the two.
using PublishFunction = std::function<base::Result<Published>(RootPages)>;

// What a registry of several nodes does with the queue (lib/store/nodes/). All are called on any thread, and
// must not block.
struct QueueObserver {
    std::function<void(catalog::Serial)> shown;  // a run left no page behind that another run can show
    std::function<void()> awaited;               // a caller waits for other nodes
    // After each run. `lost`: the pages that lack a lost or damaged blob; `is_behind`: it did not lead to
    // shown().
    std::function<void(std::size_t lost, bool is_behind)> troubled = {};
    // A blob that is lost counts as such after this time. Earlier it may be one that this node alone does not
    // see yet.
    std::int64_t lost_after_ms = 0;
};

class PublishQueue {
  public:
    // A failed run is retried on its own, first after `first_retry_ms`, then with doubled delays of up to a
    // minute; a new wait retries at once. Deferred root pages are written `late_roots_ms` after their first
    // missing name at the earliest; if one cannot be written, waiters for other pages do not fail.
    explicit PublishQueue(PublishFunction publish, std::int64_t first_retry_ms = 1'000,
                          std::int64_t late_roots_ms = root_delay_ms);
    ~PublishQueue();  // finishes the run under way, and writes late root pages
    // Calls `then` once: with success when `serial` is visible and no page that `page` names lags; with the
    // error when a run that covered `serial` failed, when that run left such a page behind (each wait
    // requests another run), or when the queue is destroyed. `then` runs on the publisher's thread or on the
    // caller's before this returns, and must not block. There is no timeout here: the caller sets one. The
    // commit remains valid, so the caller answers 503 and an identical retry waits again.
    using WhenVisible = std::function<void(const base::Status&)>;
    void call_when_visible(catalog::Serial serial, PageOf page, WhenVisible then);
    // The same, blocking the calling thread; "publish.slow" after `timeout_ms`.
    [[nodiscard]] base::Status wait_until_visible(catalog::Serial serial, std::int64_t timeout_ms,
                                                  PageOf page = {});
    // Calls `then` as soon as `serial` is visible, however many runs fail before, or never if the queue is
    // destroyed first. Otherwise as call_when_visible().
    void call_despite_failures(catalog::Serial serial, std::function<void()> then);
    // Returns once no root page lacks a name; false if one cannot be written now, or the queue stops.
    [[nodiscard]] bool write_late_roots();
    // Requests `serial` without waiting, so that commits from before a crash are published after the restart.
    void want(catalog::Serial serial);
    // Requests a run with RootPages::all for pages that change without a commit, as late root pages are
    // written.
    void want_pages();
    // Calls `then` on the publisher's thread once a run has succeeded that began after this call, and left no
    // page behind that another run can show; or never if the queue is destroyed first.
    void call_after_next_run(std::function<void()> then);
    // From now on callers also wait until other nodes show their serial. Before the first call of
    // note_others_show().
    void wait_for_others(QueueObserver observer);
    // Every other node that may answer shows this.
    void note_others_show(catalog::Serial serial);
    // Says whether a caller waits for pages that this node shows.
    [[nodiscard]] bool awaits_others() const;
    // Callers waiting for a reply now.
    [[nodiscard]] std::size_t waiting() const;
    // How far the published pages are behind the requested serial.
    struct Lag {
        catalog::Serial visible = 0;
        catalog::Serial wanted = 0;
        std::int64_t since_ms = 0;        // how long `wanted` has been ahead of `visible`; 0 if it is not
        std::size_t lagging_pages = 0;    // not updated by the last run
        std::string last_failure = {};    // empty unless runs fail
        std::size_t late_roots = 0;       // large root pages that lack names
        std::int64_t roots_since_ms = 0;  // for how long they have lacked them
        std::size_t damaged_pages = 0;    // of lagging_pages, those that lack only a lost or damaged blob
        std::uint64_t failures = 0;       // runs, since the start
    };
    [[nodiscard]] Lag lag() const;
    [[nodiscard]] base::Spent::Sum spent() const { return spent_.sum(); }  // in runs, failed ones too

  private:
    using TimePoint = std::chrono::steady_clock::time_point;

    struct Waiter {
        catalog::Serial serial = 0;
        PageOf page;
        std::uint64_t runs_before = 0;
        std::uint64_t failures_before = 0;
        WhenVisible then;
        bool outlasts_failures = false;
        std::uint64_t rebuilt_before = 0;
    };

    void run();
    void want_locked(catalog::Serial serial);
    void add_waiter(catalog::Serial serial, PageOf page, WhenVisible then, bool outlasts_failures);
    [[nodiscard]] std::optional<base::Status> verdict(const Waiter& waiter) const;
    void answer_waiters(std::unique_lock<std::mutex>& lock);
    void run_once(std::unique_lock<std::mutex>& lock, RootPages roots);
    void write_late_roots_at_last(std::unique_lock<std::mutex>& lock);
    void wait_for_work(std::unique_lock<std::mutex>& lock);
    void tell_shown(std::uint64_t run, std::unique_lock<std::mutex>& lock);
    [[nodiscard]] bool is_page_left() const;
    [[nodiscard]] const LaggingPage* find_lagging(const PageOf& page) const;
    void note_lagging();
    void note_lost(TimePoint now);
    void tell_troubles(bool is_behind, std::unique_lock<std::mutex>& lock) const;
    void retry_later();
    void note_failure(catalog::Serial covered, base::Error error);

    PublishFunction publish_;
    base::Spent spent_;
    const std::chrono::milliseconds first_retry_;
    mutable std::mutex mutex_;
    std::condition_variable wake_publisher_, roots_tried_;
    catalog::Serial wanted_ = -1;  // -1: serial 0, the empty catalog, has pages too
    catalog::Serial visible_ = -1;
    bool asked_ = false;                 // a request came since the last run began
    catalog::Serial failed_up_to_ = -1;  // highest serial that the last failed run covered
    std::uint64_t failures_ = 0;         // failed runs since the start
    std::uint64_t runs_ = 0;             // successful runs since the start
    std::vector<LaggingPage> lagging_;   // after the last successful run
    // Of lagging_, those with a lost or damaged blob, and since when.
    std::map<std::array<std::string, 3>, TimePoint> lost_since_;
    std::chrono::milliseconds retry_;  // delay before the next automatic retry
    TimePoint retry_at_{};
    LateRoots late_roots_;
    bool are_roots_wanted_ = false;       // now, whatever they are due at
    std::uint64_t failed_root_runs_ = 0;  // since the start
    bool are_pages_wanted_ = false;       // want_pages() since the last run with RootPages::all began
    base::Error last_failure_;
    std::vector<Waiter> waiters_;
    catalog::Serial others_show_ = catalog::newest_of_all;  // there are no others
    QueueObserver observer_;
    std::uint64_t begun_ = 0;                                                  // runs
    std::uint64_t rebuilt_ = 0;                                                // trees, since the start
    std::vector<std::pair<std::uint64_t, std::function<void()>>> after_runs_;  // from which run on
    TimePoint behind_since_{};                                                 // while wanted_ > visible_
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace wheelyard::registry
