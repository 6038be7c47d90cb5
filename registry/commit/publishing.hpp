// "Uploaded" means "installable": uploads wait here until the pages that show them are out. One thread
// publishes; waiting uploads are served together (one publish run may cover many commits). Large root pages,
// which no install asks for, it writes behind the answers.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/commit/late_roots.hpp"
#include "registry/commit/limits.hpp"

namespace wheelyard::registry {

// What a publish run could not bring up to date though it did the rest; without a filename, a project's
// pages.
struct LaggingPage {
    std::string index;
    std::string project;
    std::string filename;
    base::Error error;
};
struct Published {
    catalog::Serial serial = 0;
    std::vector<LaggingPage> lagging = {};
    std::size_t late_roots = 0;  // root pages that a run with RootPages::prompt left for later
    Published(catalog::Serial shown = 0) : serial(shown) {}  // all of it
};
// What somebody waits for: his own file. Others' trouble is not his. An empty member stands for all: without
// a filename, all files and pages of the project; without a project, of the index.
struct PageOf {
    std::string index;
    std::string project;
    std::string filename;
};

// Which root pages a run writes: all that lack a name, or those alone that cannot come later.
enum class RootPages { all, prompt };

// Publishes everything committed so far and returns the serial that is now visible. main.cpp wires the
// indexer in here.
using PublishFunction = std::function<base::Result<Published>(RootPages)>;

class PublishQueue {
  public:
    // A run that fails is tried again by itself, first after `first_retry_ms`, then twice as late each time
    // up to a minute; a new wait tries at once. Late root pages come `late_roots_ms` after their first name
    // at the earliest; one that cannot be written fails nobody who waits for another page.
    explicit PublishQueue(PublishFunction publish, std::int64_t first_retry_ms = 1'000,
                          std::int64_t late_roots_ms = root_delay_ms);
    ~PublishQueue();  // finishes the run under way, and writes late root pages
    // Calls `then` once: with success when `serial` is visible and no page that `page` names lags; with the
    // error when a run that covered `serial` failed, when that run left such a page behind (each wait lets a
    // run try it again), or when the queue ends. On the publisher's thread, or at once; `then` must not wait.
    // The bound on the time is the caller's. The commit stays valid: the caller answers 503, and the
    // identical retry waits again.
    using WhenVisible = std::function<void(const base::Status&)>;
    void call_when_visible(catalog::Serial serial, PageOf page, WhenVisible then);
    // The same for a thread that waits; "publish.slow" after `timeout_ms`.
    [[nodiscard]] base::Status wait_until_visible(catalog::Serial serial, std::int64_t timeout_ms,
                                                  PageOf page = {});
    // Asks for `serial` without waiting: what was committed before a crash comes out after the restart.
    void want(catalog::Serial serial);
    // How many callers wait for an answer now.
    [[nodiscard]] std::size_t waiting() const;
    // How far the pages are behind what somebody waits for.
    struct Lag {
        catalog::Serial visible = 0;
        catalog::Serial wanted = 0;
        std::int64_t since_ms = 0;        // how long `wanted` has been ahead of `visible`; 0: it is not
        std::size_t lagging_pages = 0;    // left behind by the last run
        std::string last_failure = {};    // while runs fail
        std::size_t late_roots = 0;       // large root pages that lack names
        std::int64_t roots_since_ms = 0;  // how long they have
    };
    [[nodiscard]] Lag lag() const;

  private:
    using TimePoint = std::chrono::steady_clock::time_point;

    struct Waiter {
        catalog::Serial serial = 0;
        PageOf page;
        std::uint64_t runs_before = 0;
        std::uint64_t failures_before = 0;
        WhenVisible then;
    };

    void run();
    void want_locked(catalog::Serial serial);
    [[nodiscard]] std::optional<base::Status> verdict(const Waiter& waiter) const;
    void answer_waiters(std::unique_lock<std::mutex>& lock);
    void run_once(std::unique_lock<std::mutex>& lock, RootPages roots);
    void write_late_roots_at_last(std::unique_lock<std::mutex>& lock);
    void wait_for_work(std::unique_lock<std::mutex>& lock);
    [[nodiscard]] const LaggingPage* find_lagging(const PageOf& page) const;
    void note_lagging();
    void retry_later();
    void note_failure(catalog::Serial covered, base::Error error);

    PublishFunction publish_;
    const std::chrono::milliseconds first_retry_;
    mutable std::mutex mutex_;
    std::condition_variable wake_publisher_;
    catalog::Serial wanted_ = -1;  // serial 0, the empty catalog, has pages too
    catalog::Serial visible_ = -1;
    bool asked_ = false;                 // somebody asked since the last run began
    catalog::Serial failed_up_to_ = -1;  // what the last failed run had taken on
    std::uint64_t failures_ = 0;         // runs that failed, ever
    std::uint64_t runs_ = 0;             // that ended well
    std::vector<LaggingPage> lagging_;   // after the last of them
    std::chrono::milliseconds retry_;    // before the next run by itself, while runs fail
    TimePoint retry_at_{};
    LateRoots late_roots_;
    base::Error last_failure_;
    std::vector<Waiter> waiters_;
    TimePoint behind_since_{};  // while wanted_ > visible_
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace wheelyard::registry
