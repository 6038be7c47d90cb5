// What a coroutine on an I/O thread awaits of other threads without blocking: work on the bounded pool, or a
// single answer. Internal to the server.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "lib/io/log.hpp"

namespace wheelyard::http {

// One piece of work at a time. After start(), join() before destroying anything that the work refers to.
class PoolJob {
  public:
    PoolJob(boost::asio::thread_pool& pool, boost::asio::any_io_executor io)
        : pool_(pool), io_(std::move(io)), state_(std::make_shared<State>(io_)) {}

    void start(std::function<void()> work) {
        state_->running = true;
        boost::asio::post(pool_, [state = state_, io = io_, work = std::move(work)]() mutable {
            const bool threw = !run(work);
            // Return to the I/O thread with the last reference, so that the timer is used only there.
            boost::asio::post(io, [state = std::move(state), threw]() {
                state->running = false;
                state->threw = threw;
                state->done.cancel();
            });
        });
    }

    // Returns once the work is done; false if it threw (a bug or a broken environment, which is logged).
    boost::asio::awaitable<bool> join() {
        while (state_->running) {
            co_await state_->done.async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        }
        co_return !state_->threw;
    }

  private:
    struct State {
        explicit State(const boost::asio::any_io_executor& io)
            : done(io, boost::asio::steady_timer::time_point::max()) {}
        boost::asio::steady_timer done;  // never expires; cancelled when the work is done
        bool running = false;
        bool threw = false;
    };

    static bool run(const std::function<void()>& work) {
        try {
            work();
            return true;
        } catch (const std::exception& e) {
            io::log_error("server.job_threw", {{"what", e.what()}});
            return false;
        }
    }

    boost::asio::thread_pool& pool_;
    boost::asio::any_io_executor io_;
    std::shared_ptr<State> state_;
};

// Waits on an I/O thread for a single answer from another thread, with a timeout.
class PageWait {
  public:
    explicit PageWait(const boost::asio::any_io_executor& io) : state_(std::make_shared<State>()) {
        state_->timer.emplace(io);
    }
    // Destroys the timer on its own thread; an answer that comes later is ignored. The answering function may
    // outlive this object.
    ~PageWait() {
        const std::lock_guard lock(state_->mutex);
        state_->timer.reset();
    }
    PageWait(const PageWait&) = delete;
    PageWait& operator=(const PageWait&) = delete;

    // The function that delivers the answer: callable on any thread, at most once.
    [[nodiscard]] std::function<void(bool)> answer() {
        return [state = state_](bool visible) {
            const std::lock_guard lock(state->mutex);
            if (!state->timer) return;
            boost::asio::post(state->timer->get_executor(), [state, visible] {
                const std::lock_guard again(state->mutex);
                state->visible = visible;
                if (state->timer) state->timer->cancel();
            });
        };
    }

    // nullopt: no answer in time.
    [[nodiscard]] boost::asio::awaitable<std::optional<bool>> wait(std::int64_t max_ms) {
        state_->timer->expires_after(std::chrono::milliseconds(max_ms));
        if (!state_->visible)
            co_await state_->timer->async_wait(boost::asio::as_tuple(boost::asio::use_awaitable));
        co_return state_->visible;
    }

  private:
    struct State {
        std::mutex mutex;  // guards whether `timer` exists
        std::optional<boost::asio::steady_timer> timer;
        std::optional<bool> visible;  // used only on the I/O thread
    };
    std::shared_ptr<State> state_;
};

}  // namespace wheelyard::http
