// The only thread that writes the catalog: uploads hand it their row and wait. No two upload threads share a
// connection, and a commit never waits for SQLite's lock against another thread of this process.
//
// Group commit: rows that arrive during a commit are committed together by the next one.
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
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::registry {

class Writer {
  public:
    Writer(std::unique_ptr<catalog::Catalog> catalog, const base::Clock& clock);
    ~Writer();  // completes the queued work
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    // Commits the row, setting its upload time to that of the commit; durable on return. Blocks.
    // Error "writer.busy": the queue is full.
    [[nodiscard]] base::Result<catalog::Added> add_file(catalog::FileRow row);
    [[nodiscard]] base::Result<std::optional<catalog::FileRow>> find_file(const std::string& index,
                                                                          const std::string& filename);

    // Runs `work` on the catalog's thread, in queue order, and waits for it. Long work delays every upload.
    [[nodiscard]] base::Status run(std::function<base::Status(catalog::Catalog&)> work);

    // Commits in the queue now.
    [[nodiscard]] std::size_t queued() const;

  private:
    using Work = std::function<void(catalog::Catalog&)>;
    using AddAnswer = std::promise<base::Result<catalog::Added>>;
    struct Job {
        Work work;                            // empty: add `row` instead
        catalog::FileRow row = {};            // the row to add
        std::shared_ptr<AddAnswer> answer{};  // receives the result of adding `row`
    };
    template <typename T>
    [[nodiscard]] base::Result<T> wait_for(std::function<base::Result<T>(catalog::Catalog&)> work);
    [[nodiscard]] base::Status enqueue(Job job);
    void serve();
    void commit(std::vector<Job>& jobs);
    [[nodiscard]] base::Result<std::vector<catalog::Added>> add_together(std::vector<catalog::FileRow>& rows);
    [[nodiscard]] base::Result<catalog::Added> add_alone(catalog::FileRow& row);

    const std::unique_ptr<catalog::Catalog> catalog_;  // used only on thread_
    const base::Clock& clock_;
    mutable std::mutex mutex_;
    std::condition_variable wake_;
    std::deque<Job> jobs_;
    bool stopping_ = false;
    std::thread thread_;
};

}  // namespace wheelyard::registry
