#include "registry/store/control_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "lib/base/files/file.hpp"

namespace wheelyard::registry {
namespace {

namespace fs = std::filesystem;

constexpr const char* socket_name = "control.sock";
constexpr mode_t owner_only = 0600;
constexpr int max_waiting = 64;  // connections that are not accepted yet
constexpr std::size_t read_bytes = 64 * 1024;

// An address has 107 bytes (unix(7)). A longer path goes through the descriptor of its folder.
struct Address {
    base::Fd folder;
    sockaddr_un name{};

    [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

base::Result<Address> address_in(const fs::path& store) {
    Address address;
    address.name.sun_family = AF_UNIX;
    std::string path = (store / socket_name).native();
    if (path.size() >= sizeof address.name.sun_path) {
        address.folder = base::Fd(::open(store.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
        if (!address.folder) return base::fail_errno("open", store.native(), errno);
        path = "/proc/self/fd/" + std::to_string(address.folder.get()) + "/" + socket_name;
    }
    path.copy(address.name.sun_path, sizeof address.name.sun_path - 1);
    return address;
}

base::Result<base::Fd> make_socket(const fs::path& store, int more_type) {
    base::Fd made(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | more_type, 0));
    if (!made) return base::fail_errno("socket", store.native(), errno);
    return made;
}

void limit_sending(int socket, std::int64_t ms) {
    const timeval limit{.tv_sec = ms / 1000, .tv_usec = 0};
    ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
}

tl::unexpected<base::Error> has_ended() {
    return base::fail("control.ended", "The other end of the control socket has closed it");
}

}  // namespace

ControlConnection::ControlConnection(base::Fd socket) : socket_(std::move(socket)) {
    limit_sending(socket_.get(), control_silence_ms);
}

base::Result<io::Json> ControlConnection::read(std::int64_t timeout_ms) {
    using std::chrono::steady_clock;
    const auto deadline = steady_clock::now() + std::chrono::milliseconds(timeout_ms);
    std::size_t searched = 0;
    for (;;) {
        if (const auto end = unread_.find('\n', searched); end != std::string::npos) {
            auto line =
                io::parse_json(std::string_view(unread_).substr(0, end), {.bytes = max_control_line_bytes});
            unread_.erase(0, end + 1);
            return line;
        }
        searched = unread_.size();
        if (searched > max_control_line_bytes)
            return base::fail("control.line", "A line of the control socket is too long");
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - steady_clock::now());
        pollfd readable{socket_.get(), POLLIN, 0};
        const int ready = left.count() > 0 ? ::poll(&readable, 1, static_cast<int>(left.count())) : 0;
        if (ready < 0 && errno == EINTR) continue;
        if (ready == 0)
            return base::fail("control.silent", "The other end of the control socket does not answer");
        std::array<char, read_bytes> bytes;
        const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return has_ended();
        unread_.append(bytes.data(), static_cast<std::size_t>(got));
    }
}

base::Status ControlConnection::write(const io::Json& line) {
    const std::string text = line.render() + "\n";
    for (std::string_view left = text; !left.empty();) {
        const ssize_t sent = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0) return has_ended();
        left.remove_prefix(static_cast<std::size_t>(sent));
    }
    return {};
}

base::Result<uid_t> ControlConnection::peer() const {
    ucred credentials{};
    socklen_t size = sizeof credentials;
    if (::getsockopt(socket_.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
        return base::fail_errno("getsockopt", "SO_PEERCRED", errno);
    return credentials.uid;
}

base::Result<base::Fd> listen_for_commands(const fs::path& store) {
    WHEELYARD_TRY(remove_control_socket(store));
    WHEELYARD_ASSIGN(base::Fd socket, make_socket(store, SOCK_NONBLOCK));
    WHEELYARD_ASSIGN(const Address address, address_in(store));
    const fs::path file = store / socket_name;
    if (::bind(socket.get(), address.get(), sizeof address.name) != 0)
        return base::fail_errno("bind", file.native(), errno);
    // Nobody connects before listen(2), so the umask's mode is seen by nobody.
    if (::chmod(file.c_str(), owner_only) != 0) return base::fail_errno("chmod", file.native(), errno);
    if (::listen(socket.get(), max_waiting) != 0) return base::fail_errno("listen", file.native(), errno);
    return socket;
}

base::Status remove_control_socket(const fs::path& store) {
    return base::remove_file(store / socket_name);
}

base::Result<ControlConnection> connect_to_server(const fs::path& store) {
    WHEELYARD_ASSIGN(base::Fd socket, make_socket(store, 0));
    WHEELYARD_ASSIGN(const Address address, address_in(store));
    limit_sending(socket.get(), control_greeting_ms);  // of connect(2), if the server accepts no more
    if (::connect(socket.get(), address.get(), sizeof address.name) != 0)
        return base::fail_errno("connect", (store / socket_name).native(), errno);
    return ControlConnection(std::move(socket));
}

}  // namespace wheelyard::registry
