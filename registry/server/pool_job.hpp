// Runs work on the bounded pool for a coroutine on an I/O thread, which awaits it without blocking. Internal
// to the server.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <functional>
#include <memory>

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

}  // namespace wheelyard::http
