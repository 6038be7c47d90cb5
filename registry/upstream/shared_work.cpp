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

std::size_t share_of_client(std::size_t all) {
    return all - all / 4;
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

void SharedWork::start(const std::string& name, const For& whom, Work work, Then then) {
    {
        const std::lock_guard lock(mutex_);
        const auto known = jobs_.find(name);
        if (known != jobs_.end()) {
            if (then) known->second.waiters.push_back(std::move(then));
            return;
        }
        Load& load = loads_[whom.owner];
        const auto of_client = client_loads_.find(whom.client);
        const bool has_place =
            queue_.size() < max_waiting_ && load.waiting < share_of(max_waiting_, owners_) &&
            (of_client == client_loads_.end() || of_client->second.waiting < share_of_client(max_waiting_));
        if (!stopping_ && has_place) {
            ++load.waiting;
            ++client_loads_[whom.client].waiting;
            Job& job = jobs_[name];
            job.whom = whom;
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

bool SharedWork::may_run(const For& whom) const {
    return loads_.at(whom.owner).running < share_of(max_running_, owners_) &&
           client_loads_.at(whom.client).running < share_of_client(max_running_);
}

std::deque<std::string>::iterator SharedWork::next() {
    return std::find_if(queue_.begin(), queue_.end(),
                        [this](const std::string& name) { return may_run(jobs_.at(name).whom); });
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
        const For whom = job.whom;
        Load& load = loads_.at(whom.owner);
        Load& of_client = client_loads_.at(whom.client);
        for (Load* const each : {&load, &of_client}) {
            --each->waiting;
            ++each->running;
        }
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
        if (--of_client.running == 0 && of_client.waiting == 0) client_loads_.erase(whom.client);
        wake_.notify_one();  // work of this owner or client may have waited for this thread
        lock.unlock();
        for (const Then& then : waiters)
            then(true);
        lock.lock();
    }
}

}  // namespace wheelyard::registry
