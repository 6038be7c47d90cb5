// A pool of threads for named work: work under one name runs once, however many wait for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace wheelyard::registry {

class SharedWork {
  public:
    using Work = std::function<void()>;
    // Called once: true after the work ran, false if it will not run (too much waits, or the pool stops). On the
    // thread of the work, or before start() returns.
    using Then = std::function<void(bool ran)>;

    SharedWork(unsigned threads, std::size_t max_waiting);
    ~SharedWork();  // stop(), then waits for running work
    SharedWork(const SharedWork&) = delete;
    SharedWork& operator=(const SharedWork&) = delete;

    // If work of this name waits or runs already, only `then` is added. `then` may be empty.
    void start(const std::string& name, Work work, Then then);
    // Starts no more work and answers those who wait for it; running work goes on.
    void stop();
    [[nodiscard]] std::size_t waiting() const;

  private:
    struct Job {
        Work work;
        std::vector<Then> waiters;
    };
    void run();
    const std::size_t max_waiting_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::map<std::string, Job> jobs_;  // waiting or running
    std::deque<std::string> queue_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace wheelyard::registry
