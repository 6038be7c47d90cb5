// One accepted socket, TCP or Unix, with or without TLS. Calls either move bytes at once or return what to
// wait for. Internal to the server.
//
// The fast path is a direct system call; the coroutine waits only if the socket is full or empty. Most
// requests arrive whole and most replies fit the socket's buffer, and then cost one call each. Asio has no
// sendfile, and its writes would go through the reactor.
#pragma once

#include <sys/types.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "registry/server/tls.hpp"

namespace wheelyard::http {

// "127.0.0.1", "::1" or "unix": who is connected to the socket; empty: nobody any more.
[[nodiscard]] std::string peer_address_of(int descriptor);
// Says whether it connected from the address that it connected to, or through a Unix socket.
[[nodiscard]] bool is_from_this_machine(int descriptor);

class ClientSocket {
  public:
    using Socket = boost::asio::generic::stream_protocol::socket;
    enum class Step { moved, wait_readable, wait_writable, ended };
    struct Tried {
        Step step = Step::ended;
        std::size_t bytes = 0;  // moved bytes; set only with Step::moved
    };

    ClientSocket(Socket socket, std::shared_ptr<const TlsContext> tls);
    ~ClientSocket();
    ClientSocket(const ClientSocket&) = delete;
    ClientSocket& operator=(const ClientSocket&) = delete;

    [[nodiscard]] bool is_tls() const { return tls_context_ != nullptr; }
    // Step::moved: the TLS session is established; without TLS, always.
    [[nodiscard]] Tried try_handshake();
    [[nodiscard]] Tried try_read(char* into, std::size_t size);
    // Writes a prefix of `head` followed by `body`. `more_follows` delays a short packet (MSG_MORE).
    [[nodiscard]] Tried try_write(std::string_view head, std::string_view body, bool more_follows);
    // Step::moved with 0 bytes: end of file before `size`.
    [[nodiscard]] Tried try_send_file(int file, std::uint64_t offset, std::size_t size);

    // Returns false after an error or cancel().
    [[nodiscard]] boost::asio::awaitable<bool> wait(Step step);
    void cancel();
    void finish_sending();
    [[nodiscard]] auto executor() { return socket_.get_executor(); }
    [[nodiscard]] std::string peer_address() const;

  private:
    Socket socket_;
    std::shared_ptr<const TlsContext> tls_context_;
    std::unique_ptr<TlsSession> tls_;
};

}  // namespace wheelyard::http
