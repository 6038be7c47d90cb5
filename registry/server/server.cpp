// Listens, distributes connections over the I/O threads, and shuts down in order.
//
// One socket listens and one thread accepts for all: with SO_REUSEPORT a second server on the same port would
// silently take half of the clients instead of failing, and connections in a closed listener's queue would be
// reset on every restart.
#include "registry/server/server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <future>
#include <mutex>

#include "lib/io/log.hpp"
#include "registry/http/forwarded.hpp"
#include "registry/server/client_socket.hpp"
#include "registry/server/io_loop.hpp"

namespace wheelyard::http {

namespace asio = boost::asio;

namespace {

constexpr std::size_t max_refusals_at_once = 64;  // connections over the limit that still get a 503
constexpr std::int64_t accept_pause_ms = 100;     // after accept(2) failed for lack of descriptors or memory

using Acceptor = asio::basic_socket_acceptor<asio::generic::stream_protocol>;
using Endpoint = asio::generic::stream_protocol::endpoint;

struct Listener {
    Listener(const ListenPoint& listen_point, asio::io_context& context)
        : point(listen_point), acceptor(context) {}
    const ListenPoint point;
    Acceptor acceptor;  // used only on loops[0], like `tls` once the server runs
    std::shared_ptr<const TlsContext> tls;
    std::uint16_t port = 0;
};

std::string name_of(const ListenPoint& point) {
    if (!point.unix_socket.empty()) return point.unix_socket.string();
    return point.address + " port " + std::to_string(point.port);
}

base::Result<Endpoint> endpoint_of(const ListenPoint& point) {
    if (!point.unix_socket.empty()) {
        if (point.unix_socket.native().size() >= sizeof(sockaddr_un::sun_path))
            return base::fail("server.bind", "The path of the Unix socket is too long",
                              point.unix_socket.string(), "use a path of at most 107 bytes");
        return Endpoint(asio::local::stream_protocol::endpoint(point.unix_socket.string()));
    }
    boost::system::error_code error;
    const auto address = asio::ip::make_address(point.address, error);
    if (error)
        return base::fail("server.bind", "The address to listen on is not an IP address", point.address,
                          "use 127.0.0.1 for this machine only, 0.0.0.0 or :: for all of its addresses");
    return Endpoint(asio::ip::tcp::endpoint(address, point.port));
}

boost::system::error_code bind_to(Acceptor& acceptor, const Endpoint& endpoint) {
    const int family = endpoint.protocol().family();
    boost::system::error_code error;
    acceptor.open(endpoint.protocol(), error);
    if (!error && family != AF_UNIX) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error && family == AF_INET6) acceptor.set_option(asio::ip::v6_only(false), error);
    if (!error) acceptor.bind(endpoint, error);
    return error;
}

tl::unexpected<base::Error> fail_bind(const ListenPoint& point, const boost::system::error_code& error) {
    base::Error failed{"server.bind", "Cannot listen: " + error.message(), name_of(point),
                       "check the address and this user's permissions"};
    failed.os_error = error.value();
    if (error == asio::error::address_in_use)
        failed.advice = "another program uses it; `ss -ltnpx` shows which";
    else if (!point.unix_socket.empty())
        failed.advice =
            "the folder of the socket must be there, and the server's user must be able to write to it";
    else if (error == asio::error::access_denied)
        failed.advice = "a port below 1024 needs CAP_NET_BIND_SERVICE (docs/how-to/install.md)";
    return base::fail(std::move(failed));
}

// Removes the socket file of a crashed server, on which nothing listens. A socket that accepts connections
// belongs to a running server and stays.
void remove_abandoned_socket(const std::filesystem::path& path, asio::io_context& context) {
    struct stat info {};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return;
    asio::local::stream_protocol::socket probe(context);
    boost::system::error_code error;
    probe.connect(asio::local::stream_protocol::endpoint(path.string()), error);
    if (error == asio::error::connection_refused) ::unlink(path.c_str());
}

}  // namespace

struct Server::State {
    State(const ServerSettings& settings, UploadService& uploads, ApiService* api,
          ResumableService* resumable, UpstreamService* upstream, ReaderService* readers,
          ForwardService* forward)
        : shared(settings, uploads, api, resumable, upstream, readers, forward) {
        for (unsigned i = 0; i < std::max(1u, settings.io_threads); ++i) {
            loops.push_back(std::make_unique<IoLoop>(shared));
            shared.metrics.push_back(&loops.back()->metrics());
        }
    }

    base::Status listen();
    base::Status listen(Listener& listener);
    asio::awaitable<void> accept(Listener& listener);
    void try_place(ClientSocket::Socket socket, IoLoop& loop, const Listener& listener);
    void place(ClientSocket::Socket socket, IoLoop& loop, const Listener& listener);
    base::Status reload_certificate();
    void drain();

    ServerShared shared;
    std::vector<std::unique_ptr<IoLoop>> loops;
    std::vector<std::unique_ptr<Listener>> listeners;
    std::size_t next_loop = 0;  // used only on loops[0], where all accepting happens
    std::size_t accepting = 0;
    std::promise<void> accepting_ended;
    bool drained = false;
};

base::Status Server::State::listen() {
    for (const ListenPoint& point : shared.settings.listen) {
        auto listener = std::make_unique<Listener>(point, loops.front()->context());
        if (point.tls) {
            WHEELYARD_ASSIGN(listener->tls,
                             TlsContext::load(shared.settings.certificate_file, shared.settings.key_file));
        }
        WHEELYARD_TRY(listen(*listener));
        listeners.push_back(std::move(listener));
    }
    return {};
}

base::Status Server::State::listen(Listener& listener) {
    const ListenPoint& point = listener.point;
    WHEELYARD_ASSIGN(const Endpoint endpoint, endpoint_of(point));
    const bool is_unix = !point.unix_socket.empty();
    if (is_unix) remove_abandoned_socket(point.unix_socket, loops.front()->context());
    Acceptor& acceptor = listener.acceptor;
    boost::system::error_code error = bind_to(acceptor, endpoint);
    // Before listen(2), so that no client connects while the mode is still the umask's.
    if (!error && is_unix && ::chmod(point.unix_socket.c_str(), shared.settings.unix_socket_mode) != 0)
        error.assign(errno, boost::system::system_category());
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return fail_bind(point, error);
    if (is_unix) return {};
    sockaddr_storage bound{};
    socklen_t size = sizeof bound;
    ::getsockname(acceptor.native_handle(), reinterpret_cast<sockaddr*>(&bound), &size);
    listener.port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                                      : reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
    return {};
}

// Continues after every error of accept(2), for example when descriptors run out for a moment.
asio::awaitable<void> Server::State::accept(Listener& listener) {
    asio::steady_timer pause(loops.front()->context());
    bool failing = false;
    while (!shared.draining) {
        IoLoop& loop = *loops[next_loop];
        next_loop = (next_loop + 1) % loops.size();
        auto [error, socket] =
            co_await listener.acceptor.async_accept(loop.context(), asio::as_tuple(asio::use_awaitable));
        if (shared.draining) break;
        if (!error) {
            failing = false;
            try_place(std::move(socket), loop, listener);
            continue;
        }
        if (error == asio::error::connection_aborted) continue;
        if (!std::exchange(failing, true))
            io::log_warn("server.accept_failed",
                         {{"at", name_of(listener.point)}, {"error", error.message()}});
        pause.expires_after(std::chrono::milliseconds(accept_pause_ms));
        co_await pause.async_wait(asio::as_tuple(asio::use_awaitable));
    }
    if (--accepting == 0) accepting_ended.set_value();
}

// Out of memory for one client must not end accepting.
void Server::State::try_place(ClientSocket::Socket socket, IoLoop& loop, const Listener& listener) {
    try {
        place(std::move(socket), loop, listener);
    } catch (const std::exception& e) {
        io::log_error("server.accept_threw", {{"what", e.what()}});
    }
}

void Server::State::place(ClientSocket::Socket socket, IoLoop& loop, const Listener& listener) {
    boost::system::error_code ignored;
    if (listener.point.unix_socket.empty()) socket.set_option(asio::ip::tcp::no_delay(true), ignored);
    socket.native_non_blocking(true, ignored);  // recv(2), sendmsg(2) and sendfile(2) are called directly
    const std::string peer = peer_address_of(socket.native_handle());
    if (peer.empty()) return;  // it has gone
    const bool is_proxied = is_proxy(peer, shared.settings.trusted_proxies);
    auto place = std::make_unique<ConnectionPlaces::Place>(
        shared.places, socket.native_handle(),
        ConnectionPlaces::Client{is_proxied ? std::string() : network_of_client(client_of({}, peer, {})),
                                 !is_proxied && is_from_this_machine(socket.native_handle())});
    // Beyond a number of refusals in progress, connections are closed without a reply.
    if (!place->is_taken() && shared.places.refused() > max_refusals_at_once) return;
    loop.adopt(std::move(socket), listener.tls, std::move(place));
}

base::Status Server::State::reload_certificate() {
    const bool any = std::any_of(listeners.begin(), listeners.end(),
                                 [](const std::unique_ptr<Listener>& l) { return l->point.tls; });
    if (!any) return {};
    WHEELYARD_ASSIGN(auto loaded,
                     TlsContext::load(shared.settings.certificate_file, shared.settings.key_file));
    asio::post(loops.front()->context(), [this, loaded = std::move(loaded)] {
        for (const std::unique_ptr<Listener>& listener : listeners)
            if (listener->point.tls) listener->tls = loaded;
    });
    return {};
}

void Server::State::drain() {
    if (std::exchange(drained, true)) return;
    shared.draining = true;
    if (!listeners.empty()) {
        asio::post(loops.front()->context(), [this] {
            for (const std::unique_ptr<Listener>& listener : listeners) {
                boost::system::error_code ignored;
                listener->acceptor.close(ignored);
            }
        });
        accepting_ended.get_future().wait();
        for (const std::unique_ptr<Listener>& listener : listeners)
            if (!listener->point.unix_socket.empty()) ::unlink(listener->point.unix_socket.c_str());
    }
    for (auto& loop : loops)
        loop->drain();
    if (!shared.places.wait_for_none(shared.settings.drain_timeout_ms)) {
        io::log_warn("server.drain_timeout", {{"connections", std::to_string(shared.places.connected())}});
        for (auto& loop : loops)
            loop->abort();
        // The remaining connections wait for work on the pool, which has its own time limits and is never
        // aborted.
        (void)shared.places.wait_for_none(-1);
    }
    shared.pool.join();
    shared.provider_pool.join();
    shared.reader_pool.join();
    if (shared.forward_pool) shared.forward_pool->join();
    for (auto& loop : loops)
        loop->stop_and_join();
    listeners.clear();
}

base::Result<Server> Server::start(const ServerSettings& settings, UploadService& uploads, ApiService* api,
                                   ResumableService* resumable, UpstreamService* upstream,
                                   ReaderService* readers, ForwardService* forward) {
    Server server;
    server.state_ = std::make_unique<State>(settings, uploads, api, resumable, upstream, readers, forward);
    State& state = *server.state_;
    if (auto listening = state.listen(); !listening) {
        state.listeners.clear();  // drain() has nothing to do then
        return base::fail(std::move(listening.error()));
    }
    state.accepting = state.listeners.size();
    for (const std::unique_ptr<Listener>& listener : state.listeners)
        asio::co_spawn(state.loops.front()->context(), state.accept(*listener), asio::detached);
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

std::uint16_t Server::port(std::size_t point) const {
    return state_->listeners.at(point)->port;
}

base::Status Server::reload_certificate() {
    return state_->reload_certificate();
}

void Server::replace_indexes(std::vector<IndexEntry> entries) {
    state_->shared.replace_indexes(std::move(entries));
}

void Server::drain() {
    if (state_) state_->drain();
}

base::Status check_listening(const ServerSettings& settings, bool may_use_low_ports) {
    asio::io_context context;
    for (const ListenPoint& point : settings.listen) {
        if (point.tls) WHEELYARD_TRY(TlsContext::load(settings.certificate_file, settings.key_file));
        WHEELYARD_ASSIGN(const Endpoint endpoint, endpoint_of(point));
        boost::system::error_code error;
        if (point.unix_socket.empty()) {
            Acceptor acceptor(context);
            error = bind_to(acceptor, endpoint);
            if (error == asio::error::access_denied && may_use_low_ports) continue;
        } else if (const std::filesystem::path folder =
                       std::filesystem::absolute(point.unix_socket).parent_path();
                   ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0) {
            const bool is_made_by_start =
                errno == ENOENT && folder.parent_path() == "/run";  // RuntimeDirectory=
            if (!is_made_by_start) error.assign(errno, boost::system::system_category());
        }
        if (error && error != asio::error::address_in_use) return fail_bind(point, error);
    }
    return {};
}

}  // namespace wheelyard::http
