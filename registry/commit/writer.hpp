// The one thread that writes the catalog: uploads hand it their row and wait. So no two upload threads share
// a connection, and a commit never waits for SQLite's lock against our own.
//
// Group commit: rows that came while a commit was on its way to the disk are committed together by the next.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::registry {

class Writer {
  public:
    Writer(catalog::Catalog catalog, const base::Clock& clock);
    ~Writer();  // finishes what is queued
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // Commits the row with the time of the commit; durable when it returns. "writer.busy": the queue is full.
    [[nodiscard]] base::Result<catalog::Added> add_file(catalog::FileRow row);
    [[nodiscard]] base::Result<std::optional<catalog::FileRow>> find_file(const std::string& index,
                                                                          const std::string& filename);

    // Any work on the catalog, on its thread, in its turn: long work holds up every upload.
    [[nodiscard]] base::Status run(std::function<base::Status(catalog::Catalog&)> work);

    // Commits that wait now.
    [[nodiscard]] std::size_t queued() const;

  private:
    using Work = std::function<void(catalog::Catalog&)>;
    using AddAnswer = std::promise<base::Result<catalog::Added>>;
    struct Job {
        Work work;                            // or, when empty:
        catalog::FileRow row = {};            // one to add,
        std::shared_ptr<AddAnswer> answer{};  // and who waits for it
    };
    template <typename T>
    [[nodiscard]] base::Result<T> wait_for(std::function<base::Result<T>(catalog::Catalog&)> work);
    [[nodiscard]] base::Status enqueue(Job job);
    void serve();
    void commit(std::vector<Job>& jobs);
    [[nodiscard]] std::vector<catalog::Added> add_together(std::vector<catalog::FileRow>& rows);
    [[nodiscard]] base::Result<catalog::Added> add_alone(catalog::FileRow& row);

    catalog::Catalog catalog_;  // used by thread_ only
    const base::Clock& clock_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Job> jobs_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace wheelyard::registry
