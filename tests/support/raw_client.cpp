// Blocking sockets with a receive timeout.
#include "tests/support/raw_client.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <stdexcept>

#include "lib/base/text/text.hpp"

namespace wheelyard::testing {

namespace {

constexpr int max_wait_s = 30;

}  // namespace

std::string RawAnswer::reason() const {
    const auto line_end = head.find("\r\n");
    return head.substr(13, line_end - 13);
}

std::string RawAnswer::field(std::string_view name) const {
    for (const std::string_view line : base::split_lines(head)) {
        const auto colon = line.find(':');
        if (colon == std::string_view::npos || !base::equals_ignoring_case(line.substr(0, colon), name))
            continue;
        return std::string(base::trim(line.substr(colon + 1)));
    }
    return {};
}

RawClient::RawClient(std::uint16_t port, int receive_buffer)
    : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval wait{max_wait_s, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    if (receive_buffer > 0)
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        throw std::runtime_error("connect");
}

bool RawClient::try_send(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent < 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

void RawClient::send(std::string_view bytes) {
    (void)try_send(bytes);
}

std::string RawClient::read_some() {
    if (!read_.empty()) return std::exchange(read_, {});
    std::array<char, 65536> buffer;
    const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        throw std::runtime_error("the server sent nothing");
    if (got <= 0) return {};
    return std::string(buffer.data(), static_cast<std::size_t>(got));
}

bool RawClient::has_input() const {
    pollfd socket{socket_.get(), POLLIN, 0};
    return !read_.empty() || ::poll(&socket, 1, 0) > 0;
}

bool RawClient::ended() {
    return read_some().empty();
}

std::optional<RawAnswer> RawClient::answer(bool of_head) {
    const auto want = [&](std::size_t size) {
        while (read_.size() < size) {
            std::string have = std::exchange(read_, {});
            const std::string more = read_some();
            read_ = std::move(have) + more;
            if (more.empty()) return false;
        }
        return true;
    };
    while (read_.find("\r\n\r\n") == std::string::npos)
        if (!want(read_.size() + 1)) return std::nullopt;
    RawAnswer answer;
    const std::size_t head_size = read_.find("\r\n\r\n") + 4;
    answer.head = read_.substr(0, head_size);
    answer.status = std::stoi(answer.head.substr(9, 3));
    const auto length = base::parse_decimal(answer.field("Content-Length")).value_or(0);
    const auto size = of_head ? 0 : static_cast<std::size_t>(length);
    if (!want(head_size + size)) return std::nullopt;
    answer.body = read_.substr(head_size, size);
    read_.erase(0, head_size + size);
    return answer;
}

RawAnswer RawClient::ask(std::string_view request) {
    send(request);
    auto got = answer(request.starts_with("HEAD "));
    if (!got) throw std::runtime_error("no answer to: " + std::string(request.substr(0, 80)));
    return *got;
}

void RawClient::finish_sending() {
    ::shutdown(socket_.get(), SHUT_WR);
}

void RawClient::reset() {
    const linger at_once{1, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    socket_.reset();
}

std::string get(std::string_view target, std::string_view fields) {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: test\r\n" + std::string(fields) + "\r\n";
}

}  // namespace wheelyard::testing
