// The sending side of a connection: head and page in one call, files with sendfile(2) in bounded turns, files
// that arrive as they grow.
#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstddef>

#include "lib/io/log.hpp"
#include "registry/server/connection.hpp"
#include "registry/server/limits.hpp"
#include "registry/server/pool_job.hpp"

namespace wheelyard::http {

namespace {

// After this many bytes, other connections get a turn, which keeps the p99 of pages at a few ms.
constexpr std::size_t sendfile_turn_bytes = 512 * base::kib;

}  // namespace

namespace asio = boost::asio;

Connection::Task<bool> Connection::send(const RequestHead& head, Reply& reply, bool body_unread) {
    const bool keep =
        head.keep_alive && !reply.close && !body_unread && !shared_.draining.load(std::memory_order_relaxed);
    const ReplyFrame frame{loop_.date(), request_id_, head.http_1_1, keep, reading_only_};
    const std::string head_text = render_reply_head(reply, frame);
    bool sent = false;
    const auto* slice = std::get_if<FileSlice>(&reply.body);
    const auto* arriving = std::get_if<SharedArrivingFile>(&reply.body);
    if (slice != nullptr && head.method != "HEAD" && slice->length > 0) {
        sent = co_await write_file(head_text, *slice);
    } else if (arriving != nullptr && head.method != "HEAD") {
        sent = co_await write_arriving(head_text, **arriving);
    } else {
        std::string_view body;
        if (const auto* text = std::get_if<std::string>(&reply.body)) body = *text;
        if (const auto* page = std::get_if<SharedText>(&reply.body)) body = **page;
        if (head.method == "HEAD") body = {};
        sent = co_await write(head_text, body, false);
    }
    clear_deadline();
    count_answer(head, reply);
    co_return sent&& keep;
}

// For replies sent while a body may still arrive: closing at once would reset the connection before the
// client has read the reply. Always returns false.
Connection::Task<bool> Connection::send_and_linger(const RequestHead& head, Reply& reply) {
    co_await send(head, reply, true);
    co_await linger();
    co_return false;
}

Connection::Task<bool> Connection::send_and_linger_if(bool body_unread, const RequestHead& head,
                                                      Reply& reply) {
    bool again = false;
    if (body_unread)
        again = co_await send_and_linger(head, reply);
    else
        again = co_await send(head, reply, false);
    co_return again;
}

// Waits for the client, at most as long as `pace` permits.
Connection::Task<bool> Connection::wait_at_pace(ClientSocket::Step step, Pace& pace) {
    const Time began = std::chrono::steady_clock::now();
    set_deadline(shared_.settings.stall_timeout_ms - pace.waited_ms);
    deadline_ = std::min(deadline_, pace.ends);
    const bool ready = co_await wait_for(step);
    clear_deadline();
    const auto waited = std::chrono::steady_clock::now() - began;
    pace.waited_ms += std::chrono::duration_cast<std::chrono::milliseconds>(waited).count();
    co_return ready;
}

void Connection::note_moved(Pace& pace, std::uint64_t bytes) const {
    pace.moved_bytes += bytes;
    const auto window_ms = static_cast<std::uint64_t>(shared_.settings.stall_timeout_ms);
    if (pace.moved_bytes * 1000 < min_body_bytes_per_s * window_ms) return;
    pace.waited_ms = 0;
    pace.moved_bytes = 0;
}

Connection::Task<bool> Connection::write(std::string_view head, std::string_view body, bool more_follows) {
    Pace pace;
    while (!head.empty() || !body.empty()) {
        if (ended_) co_return false;
        const ClientSocket::Tried tried = socket_.try_write(head, body, more_follows);
        if (tried.step == ClientSocket::Step::moved) {
            const std::size_t of_head = std::min(tried.bytes, head.size());
            head.remove_prefix(of_head);
            body.remove_prefix(tried.bytes - of_head);
            note_moved(pace, tried.bytes);
            continue;
        }
        const bool ready = co_await wait_at_pace(tried.step, pace);
        if (!ready) co_return false;
    }
    co_return true;
}

Connection::Task<bool> Connection::write_file(std::string_view head, const FileSlice& slice) {
    const bool head_sent = co_await write(head, {}, true);
    if (!head_sent) co_return false;
    Pace pace;
    co_return co_await write_part(slice.file.get(), slice.offset, slice.length, pace);
}

// Sends what there is of the file, and waits for more. If it breaks, the client sees the connection end
// before Content-Length.
Connection::Task<bool> Connection::write_arriving(std::string_view head, ArrivingFile& file) {
    const bool head_sent = co_await write(head, {}, false);
    if (!head_sent) co_return false;
    Pace pace;
    std::uint64_t offset = 0;
    while (offset < file.size_bytes()) {
        const ArrivingFile::Progress now = file.progress();
        if (ended_ || now.state == ArrivingFile::State::broken) co_return false;
        if (now.readable_bytes > offset) {
            const bool sent = co_await write_part(file.file(), offset, now.readable_bytes - offset, pace);
            if (!sent) co_return false;
            offset = now.readable_bytes;
            continue;
        }
        PageWait more(socket_.executor());
        file.call_when_past(offset, [wake = more.answer()] { wake(true); });
        const std::optional<bool> came = co_await more.wait(upstream_file_wait_ms);
        if (!came) co_return false;
    }
    co_return true;
}

Connection::Task<bool> Connection::write_part(int file, std::uint64_t offset, std::uint64_t length,
                                              Pace& pace) {
    std::uint64_t left = length;
    std::size_t in_turn = 0;
    while (left > 0) {
        if (ended_) co_return false;
        const auto want =
            static_cast<std::size_t>(std::min<std::uint64_t>(left, sendfile_turn_bytes - in_turn));
        const ClientSocket::Tried tried = socket_.try_send_file(file, offset, want);
        if (tried.step != ClientSocket::Step::moved) {
            in_turn = 0;
            const bool ready = co_await wait_at_pace(tried.step, pace);
            if (!ready) co_return false;
            continue;
        }
        if (tried.bytes == 0) {  // the file has shrunk: Content-Length cannot be met
            io::log_error("tree.file_shrank", {{"request", request_id_}});
            co_return false;
        }
        offset += tried.bytes;
        left -= tried.bytes;
        in_turn += tried.bytes;
        note_moved(pace, tried.bytes);
        if (in_turn < sendfile_turn_bytes || left == 0) continue;
        in_turn = 0;
        co_await asio::post(socket_.executor(), asio::use_awaitable);
    }
    co_return true;
}

void Connection::count_answer(const RequestHead& head, const Reply& reply) {
    const auto took = std::chrono::steady_clock::now() - request_began_;
    const std::int64_t us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
    const std::uint64_t bytes = head.method == "HEAD" ? 0 : reply.body_size();
    loop_.metrics().count({kind_, reply.status, bytes, us});
    if (!shared_.settings.log_requests) return;
    // Only the path: the query may contain data that does not belong in a log.
    io::log_info("request", {{"request", request_id_},
                             {"client", socket_.peer_address()},
                             {"method", head.method},
                             {"path", head.target.substr(0, head.target.find('?'))},
                             {"route", std::string(name_of(kind_))},
                             {"status", std::to_string(reply.status)},
                             {"bytes", std::to_string(bytes)},
                             {"ms", std::to_string(us / 1000)}});
}

}  // namespace wheelyard::http
