// Listening, spreading connections over the I/O threads, and going away in order.
//
// One socket listens and one thread accepts for all: with SO_REUSEPORT a second server on the same port would
// not be an error but would silently take half of the clients, and connections waiting in a closed listener's
// queue would be reset on every restart.
#include "registry/http/server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <future>
#include <mutex>

#include "lib/io/log.hpp"
#include "registry/http/io_loop.hpp"
#include "registry/http/limits.hpp"

namespace wheelyard::http {

namespace asio = boost::asio;
using asio::ip::tcp;

struct Server::State {
    State(const ServerSettings& settings, UploadService& uploads) : shared(settings, uploads) {
        for (unsigned i = 0; i < std::max(1u, settings.io_threads); ++i)
            loops.push_back(std::make_unique<IoLoop>(shared));
    }

    base::Status listen();
    asio::awaitable<void> accept();
    void place(tcp::socket socket, IoLoop& loop);
    void drain();

    ServerShared shared;
    std::vector<std::unique_ptr<IoLoop>> loops;
    std::unique_ptr<tcp::acceptor> acceptor;  // lives on loops[0]
    std::uint16_t port = 0;
    std::promise<void> accepting_ended;
    bool drained = false;
};

base::Status Server::State::listen() {
    const ServerSettings& settings = shared.settings;
    const std::string place = settings.address + " port " + std::to_string(settings.port);
    boost::system::error_code error;
    const auto address = asio::ip::make_address(settings.address, error);
    if (error)
        return base::fail("server.bind", "the address to listen on is not an IP address", settings.address,
                          "use 127.0.0.1 for this machine only, 0.0.0.0 or :: for all of its addresses");
    const tcp::endpoint endpoint(address, settings.port);
    acceptor = std::make_unique<tcp::acceptor>(loops.front()->context());
    acceptor->open(endpoint.protocol(), error);
    if (!error) acceptor->set_option(tcp::acceptor::reuse_address(true), error);
    if (!error && address.is_v6()) acceptor->set_option(asio::ip::v6_only(false), error);
    if (!error) acceptor->bind(endpoint, error);
    if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
    if (error)
        return base::fail("server.bind", "cannot listen: " + error.message(), place,
                          error == asio::error::address_in_use
                              ? "another program holds it: `ss -ltnp` names it"
                              : "check the address and the rights of this user");
    port = acceptor->local_endpoint(error).port();
    return {};
}

asio::awaitable<void> Server::State::accept() {
    std::size_t next = 0;
    asio::steady_timer pause(loops.front()->context());
    for (;;) {
        IoLoop& loop = *loops[next];
        next = (next + 1) % loops.size();
        auto [error, socket] =
            co_await acceptor->async_accept(loop.context(), asio::as_tuple(asio::use_awaitable));
        if (shared.draining || error == asio::error::operation_aborted ||
            error == asio::error::bad_descriptor)
            break;
        if (!error) {
            place(std::move(socket), loop);
            continue;
        }
        if (error == asio::error::connection_aborted) continue;
        io::log_warn("server.accept_failed", {{"error", error.message()}});
        pause.expires_after(std::chrono::milliseconds(accept_pause_ms));
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
}

void Server::State::place(tcp::socket socket, IoLoop& loop) {
    boost::system::error_code ignored;
    socket.set_option(tcp::no_delay(true), ignored);
    socket.native_non_blocking(true, ignored);  // sendmsg(2) and sendfile(2) are called directly
    const bool over_capacity = shared.connections() >= shared.settings.most_connections;
    if (over_capacity && shared.refusals_now.fetch_add(1) >= most_refusals_at_once) {
        --shared.refusals_now;
        return;  // closed without a word: even refusing has a bound
    }
    shared.count_connection();
    loop.adopt(std::move(socket), over_capacity);
}

void Server::State::drain() {
    if (std::exchange(drained, true)) return;
    shared.draining = true;
    if (acceptor) {
        asio::post(loops.front()->context(), [this] {
            boost::system::error_code ignored;
            acceptor->close(ignored);
        });
        accepting_ended.get_future().wait();
    }
    for (auto& loop : loops)
        loop->drain();
    if (!shared.wait_for_no_connections(shared.settings.drain_timeout_ms)) {
        io::log_warn("server.drain_timeout", {{"connections", std::to_string(shared.connections())}});
        for (auto& loop : loops)
            loop->abort();
        // What remains is work on the pool, which ends in its own bounds and is never abandoned half-way.
        (void)shared.wait_for_no_connections(-1);
    }
    shared.pool.join();
    for (auto& loop : loops)
        loop->stop_and_join();
    acceptor.reset();
}

base::Result<Server> Server::start(const ServerSettings& settings, UploadService& uploads) {
    Server server;
    server.state_ = std::make_unique<State>(settings, uploads);
    State& state = *server.state_;
    if (auto listening = state.listen(); !listening) {
        state.acceptor.reset();  // nothing to drain
        return base::fail(std::move(listening.error()));
    }
    asio::co_spawn(state.loops.front()->context(), state.accept(),
                   [&state](const std::exception_ptr& thrown) {
                       if (thrown) io::log_error("server.accept_threw");
                       state.accepting_ended.set_value();
                   });
    for (auto& loop : state.loops)
        loop->run();
    return server;
}

Server::Server() = default;
Server::Server(Server&&) noexcept = default;
Server& Server::operator=(Server&& other) noexcept {
    if (this != &other) {
        drain();
        state_ = std::move(other.state_);
    }
    return *this;
}
Server::~Server() {
    drain();
}

std::uint16_t Server::port() const {
    return state_->port;
}

void Server::drain() {
    if (state_) state_->drain();
}

}  // namespace wheelyard::http
