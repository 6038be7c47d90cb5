#include "lib/store/commit/writer.hpp"

#include <cstddef>
#include <exception>
#include <future>
#include <memory>
#include <utility>

namespace wheelyard::registry {

namespace {

// Commits that wait for the writer thread. Each belongs to an upload in progress, so the upload threads bound
// the queue.
constexpr std::size_t max_queued_writes = 256;
constexpr std::size_t max_rows_of_a_commit = 64;  // keeps a group commit to a few ms

// Sets the promise to what `ask` returns or throws.
template <typename T, typename Ask>
void answer_with(std::promise<base::Result<T>>& promise, const Ask& ask) {
    std::optional<base::Result<T>> answer;
    try {
        answer.emplace(ask());
    } catch (...) {
        return promise.set_exception(std::current_exception());
    }
    promise.set_value(*std::move(answer));
}

}  // namespace

Writer::Writer(std::unique_ptr<catalog::Catalog> catalog, const base::Clock& clock)
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
    // Shared with the job: the waiting thread may return before set_value() has returned.
    const auto answer = std::make_shared<std::promise<base::Result<T>>>();
    WHEELYARD_TRY(enqueue({[answer, work = std::move(work)](catalog::Catalog& catalog) {
        answer_with(*answer, [&] { return work(catalog); });
    }}));
    return answer->get_future().get();
}

base::Result<catalog::Added> Writer::add_file(catalog::FileRow row) {
    auto answer = std::make_shared<AddAnswer>();
    WHEELYARD_TRY(enqueue({{}, std::move(row), answer}));
    return answer->get_future().get();
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
        if (stopping_ || jobs_.size() >= max_queued_writes)
            return base::fail_as(
                base::ErrorKind::unavailable, base::Recovery::retry,
                {"writer.busy", "Too many commits wait for the catalog", {}, "try again in a moment"});
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
        std::vector<Job> group;
        do {
            group.push_back(std::move(jobs_.front()));
            jobs_.pop_front();
        } while (!group.back().work && !jobs_.empty() && !jobs_.front().work &&
                 group.size() < max_rows_of_a_commit);
        lock.unlock();
        commit(group);
        lock.lock();
    }
}

// If a group fails, each row is tried alone and fails with its own error or exception (a bug, which its
// request reports), unless none of them can succeed now.
void Writer::commit(std::vector<Job>& jobs) {
    if (jobs.front().work) return jobs.front().work(*catalog_);
    std::vector<catalog::FileRow> rows;
    for (Job& job : jobs)
        rows.push_back(std::move(job.row));
    const base::Result<std::vector<catalog::Added>> added = add_together(rows);
    const bool is_down = !added && added.error().is_of_connection();
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (is_down)
            jobs[i].answer->set_value(base::fail(added.error()));
        else if (added && !added->empty())
            jobs[i].answer->set_value((*added)[i]);
        else
            answer_with(*jobs[i].answer, [&] { return add_alone(rows[i]); });
    }
}

// Empty if the rows were not tried together, or threw.
base::Result<std::vector<catalog::Added>> Writer::add_together(std::vector<catalog::FileRow>& rows) {
    if (rows.size() < 2) return std::vector<catalog::Added>();
    try {
        const base::UnixMicros now = clock_.now();
        for (catalog::FileRow& row : rows)
            row.upload_time = now;
        return catalog_->add_files(rows);
    } catch (...) {
        return std::vector<catalog::Added>();
    }
}

base::Result<catalog::Added> Writer::add_alone(catalog::FileRow& row) {
    row.upload_time = clock_.now();
    return catalog_->add_file(row);
}

}  // namespace wheelyard::registry
