// recv(2), sendmsg(2) and sendfile(2), or their TLS counterparts.
#include "registry/server/client_socket.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <string>

namespace wheelyard::http {

namespace asio = boost::asio;

namespace {

using Tried = ClientSocket::Tried;
using Step = ClientSocket::Step;

constexpr std::size_t tls_record_bytes =
    16 * 1024;  // maximum size of a TLS record; one call writes one record

Tried failed_call(Step would_wait) {
    return {errno == EAGAIN || errno == EWOULDBLOCK ? would_wait : Step::ended, 0};
}

Tried of_tls(TlsSession::Outcome outcome, std::size_t bytes) {
    switch (outcome) {
        case TlsSession::Outcome::done:
            return {Step::moved, bytes};
        case TlsSession::Outcome::want_read:
            return {Step::wait_readable, 0};
        case TlsSession::Outcome::want_write:
            return {Step::wait_writable, 0};
        case TlsSession::Outcome::ended:
            break;
    }
    return {Step::ended, 0};
}

template <typename Call>
ssize_t uninterrupted(Call call) {
    for (;;) {
        const ssize_t result = call();
        if (result >= 0 || errno != EINTR) return result;
    }
}

}  // namespace

ClientSocket::ClientSocket(Socket socket, std::shared_ptr<const TlsContext> tls)
    : socket_(std::move(socket)), tls_context_(std::move(tls)) {}

ClientSocket::~ClientSocket() {
    if (tls_) tls_->close();
    boost::system::error_code ignored;
    socket_.close(ignored);
}

Tried ClientSocket::try_handshake() {
    if (!is_tls()) return {Step::moved, 0};
    if (!tls_) tls_ = TlsSession::accept(*tls_context_, socket_.native_handle());
    if (!tls_) return {Step::ended, 0};
    return of_tls(tls_->handshake(), 0);
}

Tried ClientSocket::try_read(char* into, std::size_t size) {
    if (tls_) {
        std::size_t got = 0;
        const auto outcome = tls_->read(into, size, got);
        return of_tls(outcome, got);
    }
    const ssize_t got =
        uninterrupted([&] { return ::recv(socket_.native_handle(), into, size, MSG_DONTWAIT); });
    if (got < 0) return failed_call(Step::wait_readable);
    return {got == 0 ? Step::ended : Step::moved, static_cast<std::size_t>(got)};
}

Tried ClientSocket::try_write(std::string_view head, std::string_view body, bool more_follows) {
    if (tls_) {
        // Head and body share one record if they fit: one packet and one authentication less per page.
        std::array<char, tls_record_bytes> record;
        std::string_view piece = head.empty() ? body : head;
        if (!head.empty() && !body.empty() && head.size() < record.size()) {
            std::copy(head.begin(), head.end(), record.begin());
            const std::string_view first = body.substr(0, record.size() - head.size());
            std::copy(first.begin(), first.end(), record.begin() + static_cast<std::ptrdiff_t>(head.size()));
            piece = {record.data(), head.size() + first.size()};
        }
        std::size_t sent = 0;
        const auto outcome = tls_->write(piece.data(), piece.size(), sent);
        return of_tls(outcome, sent);
    }
    std::array<iovec, 2> parts{iovec{const_cast<char*>(head.data()), head.size()},
                               iovec{const_cast<char*>(body.data()), body.size()}};
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = parts.size();
    const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more_follows ? MSG_MORE : 0);
    const ssize_t sent = uninterrupted([&] { return ::sendmsg(socket_.native_handle(), &message, flags); });
    if (sent < 0) return failed_call(Step::wait_writable);
    return {Step::moved, static_cast<std::size_t>(sent)};
}

Tried ClientSocket::try_send_file(int file, std::uint64_t offset, std::size_t size) {
    auto at = static_cast<off_t>(offset);
    if (tls_) {
        std::array<char, tls_record_bytes> record;
        const ssize_t got =
            uninterrupted([&] { return ::pread(file, record.data(), std::min(record.size(), size), at); });
        if (got < 0) return {Step::ended, 0};
        if (got == 0) return {Step::moved, 0};
        std::size_t sent = 0;
        const auto outcome = tls_->write(record.data(), static_cast<std::size_t>(got), sent);
        return of_tls(outcome, sent);
    }
    const ssize_t sent = uninterrupted([&] { return ::sendfile(socket_.native_handle(), file, &at, size); });
    if (sent < 0) return failed_call(Step::wait_writable);
    return {Step::moved, static_cast<std::size_t>(sent)};
}

asio::awaitable<bool> ClientSocket::wait(Step step) {
    if (step == Step::ended) co_return false;
    const auto direction = step == Step::wait_readable ? Socket::wait_read : Socket::wait_write;
    const auto [error] = co_await socket_.async_wait(direction, asio::as_tuple(asio::use_awaitable));
    co_return !error;
}

void ClientSocket::cancel() {
    boost::system::error_code ignored;
    socket_.cancel(ignored);
}

void ClientSocket::finish_sending() {
    if (tls_) tls_->close();
    boost::system::error_code ignored;
    socket_.shutdown(Socket::shutdown_send, ignored);
}

std::string ClientSocket::peer_address() const {
    return peer_address_of(const_cast<Socket&>(socket_).native_handle());
}

namespace {

std::string address_of(int descriptor, int (*name_of)(int, sockaddr*, socklen_t*)) {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    if (name_of(descriptor, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
    if (address.ss_family == AF_UNIX) return "unix";
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address.ss_family == AF_INET) {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
        ::inet_ntop(AF_INET, &v4->sin_addr, text.data(), text.size());
    } else if (address.ss_family == AF_INET6) {
        const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
        ::inet_ntop(AF_INET6, &v6->sin6_addr, text.data(), text.size());
    }
    const std::string_view name = text.data();
    constexpr std::string_view mapped = "::ffff:";  // an IPv4 client of a socket bound to ::
    const bool is_mapped = name.starts_with(mapped) && name.find('.') != std::string_view::npos;
    return std::string(is_mapped ? name.substr(mapped.size()) : name);
}

}  // namespace

std::string peer_address_of(int descriptor) {
    return address_of(descriptor, ::getpeername);
}

bool is_from_this_machine(int descriptor) {
    return peer_address_of(descriptor) == address_of(descriptor, ::getsockname);
}

}  // namespace wheelyard::http
