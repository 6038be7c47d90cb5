// A pool of threads, started when they are needed, for named work: work under one name runs once, however
// many wait for it. Each work has an owner, and a slow owner does not stop the others: of several, one has at
// most half of the threads and half of the waiting places. Work is also that of the client who asked for it
// first, and one client leaves a quarter of both to the others.
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
    // Called once: true after the work ran or at answer_waiters(), false if it will not run (the queue is
    // full, or the pool stops). On the thread of the work, or before start() returns.
    using Then = std::function<void(bool ran)>;

    SharedWork(unsigned threads, std::size_t max_waiting, std::size_t owners);
    ~SharedWork();  // stop(), then waits for running work
    SharedWork(const SharedWork&) = delete;
    SharedWork& operator=(const SharedWork&) = delete;

    void set_owners(std::size_t owners);
    // If work of this name waits or runs already, only `then` is added. `then` may be empty.
    struct For {
        std::string owner;
        std::string client = {};
    };
    void start(const std::string& name, const For& whom, Work work, Then then);
    // Answers those who wait for this running work so far, and goes on: they may have what they need. They
    // may start() it again to wait for its end.
    void answer_waiters(const std::string& name);
    // Starts no more work and answers those who wait for it; running work goes on.
    void stop();
    [[nodiscard]] std::size_t waiting() const;

  private:
    struct Job {
        For whom;
        Work work;
        std::vector<Then> waiters;
    };
    struct Load {
        std::size_t running = 0;
        std::size_t waiting = 0;
    };
    void run();
    [[nodiscard]] bool may_run(const For& whom) const;
    void start_thread();                                     // one more if all are busy; with mutex_
    [[nodiscard]] std::deque<std::string>::iterator next();  // the first whose owner may have one more thread

    const std::size_t max_running_;
    const std::size_t max_waiting_;
    mutable std::mutex mutex_;
    std::size_t owners_;
    std::condition_variable wake_;
    std::map<std::string, Job> jobs_;  // waiting or running
    std::deque<std::string> queue_;
    std::map<std::string, Load> loads_;         // by owner
    std::map<std::string, Load> client_loads_;  // of those that have work
    std::size_t idle_ = 0;                      // threads that wait
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace wheelyard::registry
