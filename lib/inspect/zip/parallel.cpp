#include "lib/inspect/zip/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "lib/inspect/zip/limits.hpp"

namespace wheelyard::inspect {

base::Status for_each_parallel(std::size_t count, unsigned threads,
                               const std::function<base::Status(std::size_t)>& work) {
    std::atomic<std::size_t> next = 0;
    std::atomic<bool> stop = false;
    std::mutex mutex;
    std::optional<base::Error> error;
    std::exception_ptr thrown;
    const auto run = [&] {
        try {
            for (std::size_t i = next++; i < count && !stop; i = next++) {
                auto done = work(i);
                if (done) continue;
                stop = true;
                const std::scoped_lock lock(mutex);
                if (!error) error = std::move(done.error());
            }
        } catch (...) {
            stop = true;
            const std::scoped_lock lock(mutex);
            if (!thrown) thrown = std::current_exception();
        }
    };
    const std::size_t helpers = std::min<std::size_t>({threads, max_threads, count});
    {
        std::vector<std::jthread> team;  // joined at the end of this scope, even if starting a thread throws
        for (std::size_t i = 1; i < helpers; ++i)
            team.emplace_back(run);
        run();
    }
    if (thrown) std::rethrow_exception(thrown);
    if (error) return base::fail(std::move(*error));
    return {};
}

}  // namespace wheelyard::inspect
