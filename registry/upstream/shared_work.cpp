#include "registry/upstream/shared_work.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "lib/io/log.hpp"

namespace wheelyard::registry {

namespace {

std::size_t share_of(std::size_t all, std::size_t owners) {
    return owners > 1 ? std::max<std::size_t>(1, all / 2) : all;
}

}  // namespace

SharedWork::SharedWork(unsigned threads, std::size_t max_waiting, std::size_t owners)
    : max_running_(threads), max_waiting_(max_waiting), owners_(owners) {}

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

void SharedWork::set_owners(std::size_t owners) {
    {
        const std::lock_guard lock(mutex_);
        owners_ = owners;
    }
    wake_.notify_all();  // an owner may have more threads than before
}

void SharedWork::start(const std::string& name, const std::string& owner, Work work, Then then) {
    {
        const std::lock_guard lock(mutex_);
        const auto known = jobs_.find(name);
        if (known != jobs_.end()) {
            if (then) known->second.waiters.push_back(std::move(then));
            return;
        }
        Load& load = loads_[owner];
        if (!stopping_ && queue_.size() < max_waiting_ && load.waiting < share_of(max_waiting_, owners_)) {
            ++load.waiting;
            Job& job = jobs_[name];
            job.owner = owner;
            job.work = std::move(work);
            if (then) job.waiters.push_back(std::move(then));
            queue_.push_back(name);
            start_thread();
            wake_.notify_one();
            return;
        }
    }
    if (then) then(false);
}

void SharedWork::answer_waiters(const std::string& name) {
    std::vector<Then> waiters;
    {
        const std::lock_guard lock(mutex_);
        const auto job = jobs_.find(name);
        if (job == jobs_.end()) return;
        waiters.swap(job->second.waiters);
    }
    for (const Then& then : waiters)
        then(true);
}

std::size_t SharedWork::waiting() const {
    const std::lock_guard lock(mutex_);
    return queue_.size();
}

std::deque<std::string>::iterator SharedWork::next() {
    return std::find_if(queue_.begin(), queue_.end(), [this](const std::string& name) {
        return loads_.at(jobs_.at(name).owner).running < share_of(max_running_, owners_);
    });
}

void SharedWork::start_thread() {
    if (queue_.size() <= idle_ || threads_.size() >= max_running_) return;
    try {
        threads_.emplace_back([this] { run(); });
    } catch (const std::system_error& error) {  // those that there are have more to do
        if (threads_.empty()) throw;
        io::log_warn("upstream.no_thread",
                     {{"threads", std::to_string(threads_.size())}, {"what", error.what()}});
    }
}

void SharedWork::run() {
    std::unique_lock lock(mutex_);
    for (;;) {
        ++idle_;
        wake_.wait(lock, [this] { return stopping_ || next() != queue_.end(); });
        --idle_;
        if (stopping_) return;
        const auto chosen = next();
        const std::string name = std::move(*chosen);
        queue_.erase(chosen);
        Job& job = jobs_.at(name);
        Load& load = loads_.at(job.owner);
        --load.waiting;
        ++load.running;
        const Work work = std::move(job.work);
        lock.unlock();
        try {
            work();
        } catch (const std::exception& error) {
            io::log_error("upstream.work_threw", {{"work", name}, {"what", error.what()}});
        }
        lock.lock();
        const std::vector<Then> waiters = std::move(job.waiters);
        jobs_.erase(name);
        --load.running;
        wake_.notify_one();  // work of this owner may have waited for this thread
        lock.unlock();
        for (const Then& then : waiters)
            then(true);
        lock.lock();
    }
}

}  // namespace wheelyard::registry
