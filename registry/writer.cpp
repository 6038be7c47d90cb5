#include "registry/writer.hpp"

#include <exception>
#include <future>
#include <memory>
#include <utility>

#include "registry/limits.hpp"

namespace wheelyard::registry {

Writer::Writer(catalog::Catalog catalog, const base::Clock& clock)
    : catalog_(std::move(catalog)), clock_(clock) {
    thread_ = std::thread([this] { serve(); });
}

Writer::~Writer() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
}

template <typename T>
base::Result<T> Writer::wait_for(std::function<base::Result<T>(catalog::Catalog&)> work) {
    // Shared with the job: the waiting thread may return while set_value() is still on its way out.
    const auto answer = std::make_shared<std::promise<base::Result<T>>>();
    WHEELYARD_TRY(enqueue([answer, work = std::move(work)](catalog::Catalog& catalog) {
        try {
            answer->set_value(work(catalog));
        } catch (...) {
            answer->set_exception(std::current_exception());  // a bug: for the request to report
        }
    }));
    return answer->get_future().get();
}

base::Result<catalog::Added> Writer::add_file(catalog::FileRow row) {
    return wait_for<catalog::Added>([this, row = std::move(row)](catalog::Catalog& catalog) mutable {
        row.upload_time = clock_.now();
        return catalog.add_file(row);
    });
}

base::Result<std::optional<catalog::FileRow>> Writer::find_file(const std::string& index,
                                                                const std::string& filename) {
    return wait_for<std::optional<catalog::FileRow>>(
        [index, filename](catalog::Catalog& catalog) { return catalog.file(index, filename); });
}

std::size_t Writer::queued() const {
    const std::lock_guard lock(mutex_);
    return jobs_.size();
}

base::Status Writer::run(std::function<base::Status(catalog::Catalog&)> work) {
    return wait_for<void>(std::move(work));
}

base::Status Writer::enqueue(Job job) {
    {
        const std::lock_guard lock(mutex_);
        if (stopping_ || jobs_.size() >= most_queued_writes)
            return base::fail("writer.busy", "Too many commits wait for the catalog", {},
                              "try again in a moment");
        jobs_.push_back(std::move(job));
    }
    wake_.notify_one();
    return {};
}

void Writer::serve() {
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        const Job job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job(catalog_);
        lock.lock();
    }
}

}  // namespace wheelyard::registry
