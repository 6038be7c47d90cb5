// Sends and receives packets of NUL-terminated fields.
#include "builder/governor/launch/message.hpp"
#include "builder/governor/memory/limits.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace wheelyard::governor {
namespace {

constexpr std::size_t max_message_bytes = 32 * kib;

constexpr int backlog = 4096;

base::Result<sockaddr_un> address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.size() >= sizeof address.sun_path) {
        return base::fail("governor.socket_path", "The socket's path is too long for a Unix socket", path,
                          "set TMPDIR to a shorter folder");
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

}  // namespace

std::string render_message(const std::vector<std::string>& fields) {
    std::string packet;
    for (const auto& field : fields) {
        packet += field;
        packet += '\0';
    }
    return packet;
}

std::vector<std::string> parse_message(std::string_view packet) {
    std::vector<std::string> fields;
    if (packet.empty() || packet.back() != '\0') return fields;
    while (!packet.empty()) {
        const auto end = packet.find('\0');
        fields.emplace_back(packet.substr(0, end));
        packet.remove_prefix(end + 1);
    }
    return fields;
}

bool send_message(int socket, const std::vector<std::string>& fields) {
    const std::string packet = render_message(fields);
    while (true) {
        const auto sent = ::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL);
        if (sent >= 0) return true;
        if (errno != EINTR) return false;
    }
}

std::vector<std::string> receive_message(int socket, bool wait) {
    std::array<char, max_message_bytes> packet;
    while (true) {
        const auto got = ::recv(socket, packet.data(), packet.size(), wait ? 0 : MSG_DONTWAIT);
        if (got < 0 && errno == EINTR) continue;
        if (got == 0) errno = ECONNRESET;
        if (got <= 0) return {};
        return parse_message({packet.data(), static_cast<std::size_t>(got)});
    }
}

base::Result<base::Fd> listen_at(const std::string& path) {
    WHEELYARD_ASSIGN(const auto address, address_of(path));
    base::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!socket) return base::fail_errno("socket", path, errno);
    if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket.get(), backlog) != 0) {
        return base::fail_errno("bind", path, errno);
    }
    return socket;
}

base::Result<base::Fd> connect_to(const std::string& path) {
    WHEELYARD_ASSIGN(const auto address, address_of(path));
    base::Fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    if (!socket) return base::fail_errno("socket", path, errno);
    while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        if (errno != EINTR) return base::fail_errno("connect", path, errno);
    }
    return socket;
}

bool was_stopped(const std::string& path) {
    return ::access(path.c_str(), F_OK) != 0 && errno == ENOENT &&
           ::access(path.substr(0, path.rfind('/')).c_str(), F_OK) == 0;
}

}  // namespace wheelyard::governor
