#include "registry/upstream/shared_work.hpp"

#include <exception>
#include <utility>

#include "lib/io/log.hpp"

namespace wheelyard::registry {

SharedWork::SharedWork(unsigned threads, std::size_t max_waiting) : max_waiting_(max_waiting) {
    for (unsigned i = 0; i < threads; ++i)
        threads_.emplace_back([this] { run(); });
}

SharedWork::~SharedWork() {
    stop();
    for (std::thread& thread : threads_)
        thread.join();
}

void SharedWork::stop() {
    std::vector<Then> waiters;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        for (const std::string& name : queue_) {
            auto job = jobs_.extract(name);
            for (Then& then : job.mapped().waiters)
                waiters.push_back(std::move(then));
        }
        queue_.clear();
    }
    wake_.notify_all();
    for (const Then& then : waiters)
        then(false);
}

void SharedWork::start(const std::string& name, Work work, Then then) {
    {
        const std::lock_guard lock(mutex_);
        const auto known = jobs_.find(name);
        if (known != jobs_.end()) {
            if (then) known->second.waiters.push_back(std::move(then));
            return;
        }
        if (!stopping_ && queue_.size() < max_waiting_) {
            Job& job = jobs_[name];
            job.work = std::move(work);
            if (then) job.waiters.push_back(std::move(then));
            queue_.push_back(name);
            wake_.notify_one();
            return;
        }
    }
    if (then) then(false);
}

std::size_t SharedWork::waiting() const {
    const std::lock_guard lock(mutex_);
    return queue_.size();
}

void SharedWork::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (stopping_) return;
        const std::string name = std::move(queue_.front());
        queue_.pop_front();
        const Work work = std::move(jobs_.at(name).work);
        lock.unlock();
        try {
            work();
        } catch (const std::exception& error) {
            io::log_error("upstream.work_threw", {{"work", name}, {"what", error.what()}});
        }
        lock.lock();
        const std::vector<Then> waiters = std::move(jobs_.at(name).waiters);
        jobs_.erase(name);
        lock.unlock();
        for (const Then& then : waiters)
            then(true);
        lock.lock();
    }
}

}  // namespace wheelyard::registry
