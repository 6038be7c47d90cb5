// Waits on an I/O thread for a single answer from another thread, with a timeout. Internal to the server.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

namespace wheelyard::http {

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
