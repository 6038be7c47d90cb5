// Blocking sockets, one thread per connection; short polls detect that the server is stopping.
#include "tests/support/loopback_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <stdexcept>
#include <utility>

#include "lib/base/text/text.hpp"

namespace wheelyard::testing {
namespace {

bool send_all(int client, std::string_view bytes) {
    while (!bytes.empty()) {
        const auto sent = ::send(client, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

LoopbackRequest parse_head(std::string_view head) {
    LoopbackRequest request;
    const auto lines = base::split_lines(head);
    const auto words = base::split(lines.at(0), ' ');
    request.method = std::string(words.at(0));
    if (words.size() > 1) request.target = std::string(words[1]);
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto colon = lines[i].find(':');
        if (colon == std::string_view::npos) continue;
        request.headers.emplace_back(base::ascii_lower(lines[i].substr(0, colon)),
                                     std::string(base::trim(lines[i].substr(colon + 1))));
    }
    return request;
}

std::string render(const LoopbackAnswer& answer, bool is_head) {
    std::string out = "HTTP/1.1 " + std::to_string(answer.status) + " Scripted\r\n";
    for (const auto& [name, value] : answer.headers)
        out += name + ": " + value + "\r\n";
    out += "Content-Length: " + std::to_string(answer.body.size()) + "\r\n";
    if (!answer.read_body) out += "Connection: close\r\n";
    return out + "\r\n" + (is_head ? "" : answer.body);
}

}  // namespace

std::string LoopbackRequest::header(const std::string& name) const {
    for (const auto& [key, value] : headers) {
        if (key == name) return value;
    }
    return {};
}

LoopbackServer::LoopbackServer(Handler handler) : handler_(std::move(handler)) {
    listener_ = base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    auto* generic = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_.get(), generic, length) != 0 || ::listen(listener_.get(), 16) != 0 ||
        ::getsockname(listener_.get(), generic, &length) != 0) {
        throw std::runtime_error("cannot listen on loopback");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

LoopbackServer::~LoopbackServer() {
    stopping_ = true;
    thread_.join();
}

std::string LoopbackServer::url(const std::string& target) const {
    return "http://127.0.0.1:" + std::to_string(port_) + target;
}

std::vector<LoopbackRequest> LoopbackServer::requests() const {
    const std::lock_guard lock(mutex_);
    return requests_;
}

bool LoopbackServer::wait_readable(int fd) const {
    constexpr int step_ms = 20;
    pollfd polled{fd, POLLIN, 0};
    while (!stopping_) {
        if (::poll(&polled, 1, step_ms) > 0) return true;
    }
    return false;
}

void LoopbackServer::serve() {
    while (wait_readable(listener_.get())) {
        base::Fd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!client) continue;
        ++connections_;
        conversations_.emplace_back([this, fd = std::move(client)] { converse(fd.get()); });
    }
    for (auto& conversation : conversations_)
        conversation.join();
}

LoopbackAnswer LoopbackServer::ask(const LoopbackRequest& request) {
    const std::lock_guard lock(mutex_);
    return handler_(request);
}

void LoopbackServer::converse(int client) {
    std::string bytes;
    const auto read_more = [&] {
        char chunk[64 << 10];
        if (!wait_readable(client)) return false;
        const auto got = ::recv(client, chunk, sizeof chunk, 0);
        if (got > 0) bytes.append(chunk, static_cast<std::size_t>(got));
        return got > 0;
    };
    for (;;) {
        auto end = bytes.find("\r\n\r\n");
        while (end == std::string::npos) {
            if (!read_more() || !base::is_ascii_alpha(bytes[0]))
                return;  // not HTTP: for example a TLS handshake
            end = bytes.find("\r\n\r\n");
        }
        auto request = parse_head(std::string_view(bytes).substr(0, end));
        bytes.erase(0, end + 4);
        const auto announced = base::parse_decimal(request.header("content-length")).value_or(0);
        auto answer = ask(request);
        if (answer.read_body) {
            if (request.header("expect") == "100-continue" &&
                !send_all(client, "HTTP/1.1 100 Continue\r\n\r\n"))
                return;
            while (bytes.size() < announced && read_more()) {
            }
            request.body = bytes.substr(0, static_cast<std::size_t>(announced));
            bytes.erase(0, request.body.size());
            if (answer.after_body) {
                const std::lock_guard lock(mutex_);
                answer = std::exchange(answer.after_body, {})(request);
            }
        }
        const bool is_head = request.method == "HEAD";
        {
            const std::lock_guard lock(mutex_);
            requests_.push_back(std::move(request));
        }
        if (answer.silent) {
            while (read_more()) {
            }
            return;
        }
        if (!answer.raw.empty()) {
            for (std::size_t i = 0; answer.byte_pause_ms > 0 && i < answer.raw.size() && !stopping_; ++i) {
                std::this_thread::sleep_for(std::chrono::milliseconds(answer.byte_pause_ms));
                if (!send_all(client, answer.raw.substr(i, 1))) return;
            }
            if (answer.byte_pause_ms == 0) send_all(client, answer.raw);
            return;
        }
        if (!send_all(client, render(answer, is_head)) || !answer.read_body) return;
    }
}

}  // namespace wheelyard::testing
