// The sending side of a connection: heads and pages in one sendmsg(2), files by sendfile(2), a turn at a
// time.
//
// System calls first and waiting only when the socket is full: most answers fit its buffer and then cost one
// call. Asio has no sendfile, and its writes would go through the reactor's queue.
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>

#include "lib/io/log.hpp"
#include "registry/http/connection.hpp"
#include "registry/http/limits.hpp"

namespace wheelyard::http {

namespace asio = boost::asio;
using asio::ip::tcp;

Connection::Task<bool> Connection::send(const RequestHead& head, Reply& reply, bool body_unread) {
    const bool keep =
        head.keep_alive && !reply.close && !body_unread && !shared_.draining.load(std::memory_order_relaxed);
    const ReplyFrame frame{loop_.date(), request_id_, head.http_1_1, keep};
    const std::string head_text = render_reply_head(reply, frame);
    if (io::is_logged(io::LogLevel::debug))
        io::log(io::LogLevel::debug, "request",
                {{"request", request_id_},
                 {"method", head.method},
                 {"target", head.target},
                 {"status", std::to_string(reply.status)},
                 {"bytes", std::to_string(reply.body_size())}});
    bool sent = false;
    const auto* slice = std::get_if<FileSlice>(&reply.body);
    if (slice != nullptr && head.method != "HEAD" && slice->length > 0) {
        sent = co_await write_file(head_text, *slice);
    } else {
        std::string_view body;
        if (const auto* text = std::get_if<std::string>(&reply.body)) body = *text;
        if (const auto* page = std::get_if<SharedText>(&reply.body)) body = **page;
        if (head.method == "HEAD") body = {};
        sent = co_await write(head_text, body, 0);
    }
    clear_deadline();
    co_return sent&& keep;
}

// For answers given while a body may still be coming: closing at once would reset the connection under the
// client's nose, and it would never read why. Always false.
Connection::Task<bool> Connection::send_and_linger(const RequestHead& head, Reply& reply) {
    co_await send(head, reply, true);
    co_await linger();
    co_return false;
}

Connection::Task<bool> Connection::wait_writable() {
    set_deadline(shared_.settings.stall_timeout_ms);
    const auto [error] =
        co_await socket_.async_wait(tcp::socket::wait_write, asio::as_tuple(asio::use_awaitable));
    clear_deadline();
    co_return !error && !timed_out_ && !ended_;
}

Connection::Task<bool> Connection::write(std::string_view head, std::string_view body, int flags) {
    std::array<iovec, 2> parts{iovec{const_cast<char*>(head.data()), head.size()},
                               iovec{const_cast<char*>(body.data()), body.size()}};
    std::size_t left = head.size() + body.size();
    while (left > 0) {
        if (ended_) co_return false;
        msghdr message{};
        message.msg_iov = parts.data();
        message.msg_iovlen = parts.size();
        const ssize_t sent =
            ::sendmsg(socket_.native_handle(), &message, flags | MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            auto done = static_cast<std::size_t>(sent);
            left -= done;
            for (iovec& part : parts) {
                const std::size_t of_part = std::min(done, part.iov_len);
                part.iov_base = static_cast<char*>(part.iov_base) + of_part;
                part.iov_len -= of_part;
                done -= of_part;
            }
            continue;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) co_return false;
        const bool writable = co_await wait_writable();
        if (!writable) co_return false;
    }
    co_return true;
}

Connection::Task<bool> Connection::write_file(std::string_view head, const FileSlice& slice) {
    const bool head_sent = co_await write(head, {}, MSG_MORE);
    if (!head_sent) co_return false;
    auto offset = static_cast<off_t>(slice.offset);
    std::uint64_t left = slice.length;
    std::size_t in_turn = 0;
    while (left > 0) {
        if (ended_) co_return false;
        const std::size_t want =
            static_cast<std::size_t>(std::min<std::uint64_t>(left, sendfile_turn_bytes - in_turn));
        const ssize_t sent = ::sendfile(socket_.native_handle(), slice.file.get(), &offset, want);
        if (sent > 0) {
            left -= static_cast<std::uint64_t>(sent);
            in_turn += static_cast<std::size_t>(sent);
            if (in_turn < sendfile_turn_bytes || left == 0) continue;
            in_turn = 0;
            co_await asio::post(socket_.get_executor(), asio::use_awaitable);
            continue;
        }
        if (sent == 0) {  // shorter than when it was opened: the promised length cannot be kept
            io::log_error("tree.file_shrank", {{"request", request_id_}});
            co_return false;
        }
        if (errno == EINTR) continue;
        if (errno != EAGAIN && errno != EWOULDBLOCK) co_return false;
        in_turn = 0;
        const bool writable = co_await wait_writable();
        if (!writable) co_return false;
    }
    co_return true;
}

}  // namespace wheelyard::http
