// The life of a connection: read a head, reply, repeat.
#include "registry/server/connection.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstdint>
#include <cstring>
#include <optional>
#include <variant>

#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"
#include "registry/http/compression.hpp"
#include "registry/http/cookie.hpp"
#include "registry/http/forwarded.hpp"
#include "registry/http/limits.hpp"

namespace wheelyard::http {

namespace asio = boost::asio;
namespace {

constexpr int requests_per_turn = 16;  // pipelined on one connection; then others get a turn
// How much of a refused body is read, so that the client sees the reply.
constexpr std::uint64_t max_lingering_bytes = 256 * base::mib;
constexpr std::int64_t max_lingering_ms = 30'000;
constexpr std::int64_t quiet_lingering_ms = 2'000;  // ends earlier after this time without a byte

wire::Problem head_too_large(std::string_view received) {
    if (received.find('\n') == std::string_view::npos)
        return wire::make_problem("request.target_too_long", "URI too long",
                                  "The request line is longer than any URL of this server.", {},
                                  "check the URL");
    return wire::make_problem("request.head_too_large", "Request header fields too large",
                              "The request's header fields are too large.",
                              std::to_string(max_request_head_bytes) + " bytes at most",
                              "send fewer or shorter fields");
}

wire::Problem from_other_site(const std::string& origin) {
    return wire::make_problem("request.other_site", "Sent by a page of another site",
                              "A page of another site made the browser send this change.",
                              origin.substr(0, 200), "use the pages of this server, or a program");
}

wire::Problem too_many_files() {
    return wire::make_problem("server.files", "Too many downloads",
                              "The server has reached its limit of concurrent downloads.", {},
                              "try again shortly");
}

}  // namespace

Connection::Connection(IoLoop& loop, ClientSocket::Socket socket, std::shared_ptr<const TlsContext> tls,
                       std::unique_ptr<ConnectionPlaces::Place> place)
    : loop_(loop),
      shared_(loop.shared()),
      socket_(std::move(socket), std::move(tls)),
      place_(std::move(place)) {
    loop_.add(*this);
}

Connection::~Connection() {
    loop_.remove(*this);
}

Connection::Task<void> Connection::serve(std::shared_ptr<Connection> self) {
    try {
        co_await self->run();
    } catch (const std::exception& e) {
        io::log_error("server.connection_threw", {{"what", e.what()}});
    }
}

Connection::Task<void> Connection::run() {
    const bool secured = co_await shake_hands();
    if (!secured) co_return;
    int in_turn = 0;
    for (;;) {
        const bool there = co_await read_head();
        if (!there || !place_->begin_request()) co_return;
        phase_ = Phase::working;
        clear_deadline();
        request_id_ = shared_.next_request_id();
        request_began_ = std::chrono::steady_clock::now();
        kind_ = RouteKind::front;
        auto head = parse_request_head(buffered().substr(0, head_size_));
        consume(head_size_);
        if (head) remove_untrusted_fields(*head, shared_.settings.trusted_fields);
        if (!place_->is_taken()) {
            wire::Problem full = wire::make_problem("server.connections", "Too many connections",
                                                    "The server has reached its limit of connections, or "
                                                    "this network its share of them.",
                                                    {}, "try again shortly");
            co_await refuse_head(std::move(full));
            co_return;
        }
        if (!head) {
            co_await refuse_head(std::move(head.error()));
            co_return;
        }
        const bool again = co_await handle(*head);
        if (!again || ended_) co_return;
        place_->end_request();
        if (++in_turn == requests_per_turn) {
            in_turn = 0;
            co_await asio::post(socket_.executor(), asio::use_awaitable);
        }
    }
}

Connection::Task<bool> Connection::shake_hands() {
    set_deadline(shared_.settings.header_timeout_ms);
    for (;;) {
        const ClientSocket::Tried tried = socket_.try_handshake();
        if (tried.step == ClientSocket::Step::moved) co_return true;
        const bool ready = co_await wait_for(tried.step);
        if (!ready) co_return false;
    }
}

// Returns true once buffered() begins with a complete head of head_size_ bytes; false if the connection must
// end (the problem, if any, has been sent).
Connection::Task<bool> Connection::read_head() {
    phase_ = Phase::idle;
    std::size_t searched = 0;
    // Set once per head: empty lines before it must not extend the deadline.
    const std::int64_t head_ms = place_->is_taken() ? shared_.settings.header_timeout_ms : quiet_lingering_ms;
    set_deadline(request_id_.empty() ? head_ms : shared_.settings.idle_timeout_ms);
    for (;;) {
        // Skip empty lines before a request (RFC 9112 §2.2).
        while (buffered().starts_with("\r\n"))
            consume(2);
        const std::string_view bytes = buffered();
        if (!bytes.empty()) {
            if (phase_ == Phase::idle) {
                phase_ = Phase::head;  // time limit from the head's first byte to its end
                set_deadline(head_ms);
            }
            const std::size_t found = find_head_end(bytes, searched);
            if (found != std::string_view::npos) {
                head_size_ = found;
                co_return true;
            }
            searched = bytes.size();
            // A method begins with a letter, a TLS handshake does not: refuse without waiting for the rest.
            if (!base::is_ascii_alpha(bytes[0]) && bytes[0] != '\r') {
                wire::Problem no_http =
                    wire::make_problem("request.malformed", "Bad request", "This is not an HTTP request.", {},
                                       "use plain HTTP on this port");
                co_await refuse_head(std::move(no_http));
                co_return false;
            }
            if (bytes.size() == max_request_head_bytes) {
                wire::Problem too_large = head_too_large(bytes);
                co_await refuse_head(std::move(too_large));
                co_return false;
            }
        } else if (phase_ == Phase::idle) {
            if (shared_.draining) co_return false;
        }
        const std::size_t got = co_await read_into_buffer(nullptr);
        if (got > 0) continue;
        if (timed_out_ && phase_ == Phase::head) {
            wire::Problem late =
                wire::make_problem("request.timeout", "Request timeout",
                                   "The request head did not arrive in time.", {}, "try again");
            co_await refuse_head(std::move(late));
        }
        co_return false;
    }
}

// Replies to an invalid head. The start of the next request is unknown, so the connection ends.
Connection::Task<void> Connection::refuse_head(wire::Problem problem) {
    phase_ = Phase::working;
    timed_out_ = false;
    if (request_id_.empty()) request_id_ = shared_.next_request_id();
    RequestHead nothing_known;
    nothing_known.keep_alive = false;
    Reply reply = reply_problem(problem);
    co_await send_and_linger(nothing_known, reply);
}

Connection::Task<bool> Connection::handle(RequestHead& head) {
    served_ = &shared_.served();
    client_.clear();
    Answered<Route> route = parse_target(head.target, shared_.settings.operations);
    if (route) kind_ = route->kind;
    if (route && may_be_private(*route)) take_cookie(head);
    const bool comes_from_page = !head.fetch_site.empty() || !head.origin.empty();
    if (comes_from_page && is_from_other_site(head, base_url(head))) {
        Reply reply = reply_problem(from_other_site(head.origin));
        const bool again = co_await send_and_linger(head, reply);
        co_return again;
    }
    const auto refused_by_node = route ? refusal_of_node(head, *route) : std::nullopt;
    if (refused_by_node) {
        Reply reply = reply_problem(*refused_by_node);
        open_to_other_origins(reply, *route);
        const bool again = co_await send_and_linger_if(head.has_body(), head, reply);
        co_return again;
    }
    if (route && route->kind == RouteKind::api && is_for_writer(head, *route)) {
        const bool again = co_await answer_by_writer(head, *route);
        co_return again;
    }
    if (route && route->kind == RouteKind::api) {
        const bool again = co_await answer_api(head, *route);
        co_return again;
    }
    std::optional<Reply> by_reader;
    if (route && asks_reader(head, *route)) by_reader = co_await answer_by_reader(head, *route);
    if (route && !by_reader && is_for_writer(head, *route)) {
        const bool again = co_await answer_by_writer(head, *route);
        co_return again;
    }
    const bool uploads = route && !by_reader &&
                         ((route->kind == RouteKind::upload && head.method == "POST") ||
                          (route->kind == RouteKind::resumable_part && head.method == "PATCH"));
    if (uploads) {
        const bool again = co_await receive_upload(head, *route);
        co_return again;
    }
    const bool is_by_reader = by_reader.has_value();
    std::optional<OwnerSlots::Held> file_slot;
    Reply reply;
    if (!route)
        reply = reply_problem(route.error());
    else if (by_reader)
        reply = *std::move(by_reader);
    else if (route->kind == RouteKind::resumable || route->kind == RouteKind::resumable_part)
        reply = co_await answer_resumable(head, *route);
    else if (may_come_from_upstream(head, *route) && !is_writer_here())
        reply = co_await answer_fetched_by_writer(head, *route);
    else if (may_come_from_upstream(head, *route))
        reply = co_await answer_from_upstream(head, *route);
    else
        reply = answer_route(head, *route);
    if (route && head.method == "GET" && std::holds_alternative<RemoteFile>(reply.body))
        reply = co_await answer_remote(*route, std::move(reply));
    if (route && !is_by_reader) open_to_other_origins(reply, *route);
    if (route && !is_by_reader && is_private(*route)) keep_private(reply);
    if (std::holds_alternative<FileSlice>(reply.body) ||
        std::holds_alternative<SharedArrivingFile>(reply.body)) {
        file_slot.emplace(shared_.files_now, network_of(head), shared_.settings.max_files);
        if (!file_slot->taken()) reply = reply_problem(too_many_files());  // closes the file
    }
    if (is_for_browsers(head.accept) || !head.cookie.empty() || !head.fetch_site.empty())
        ask_no_browser(reply);
    if (head.method == "GET" && is_for_browsers(head.accept))
        show_in_browser(shared_.settings.farm, root_from(head), reply);
    compress_reply(reply, head);
    // No other request here uses a body; lingering reads and discards it.
    const bool again = co_await send_and_linger_if(head.has_body(), head, reply);
    co_return again;
}

Connection::Task<std::size_t> Connection::read_some(char* into, std::size_t size) {
    for (;;) {
        if (timed_out_ || ended_) co_return 0;
        const ClientSocket::Tried tried = socket_.try_read(into, size);
        if (tried.step == ClientSocket::Step::moved) co_return tried.bytes;
        const bool ready = co_await wait_for(tried.step);
        if (!ready) co_return 0;
    }
}

Connection::Task<bool> Connection::wait_for(ClientSocket::Step step) {
    if (timed_out_ || ended_) co_return false;  // a cancel() does not affect later waits
    const bool ready = co_await socket_.wait(step);
    co_return ready && !timed_out_ && !ended_;
}

Connection::Task<std::size_t> Connection::read_into_buffer(Pace* pace) {
    if (end_ == max_request_head_bytes) {
        std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    for (;;) {
        if (timed_out_ || ended_) co_return 0;
        if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(max_request_head_bytes);
        const ClientSocket::Tried tried =
            socket_.try_read(buffer_.get() + end_, max_request_head_bytes - end_);
        if (tried.step == ClientSocket::Step::moved) {
            end_ += tried.bytes;
            co_return tried.bytes;
        }
        if (buffered().empty()) buffer_.reset();
        bool ready = false;
        if (pace != nullptr)
            ready = co_await wait_at_pace(tried.step, *pace);
        else
            ready = co_await wait_for(tried.step);
        if (!ready) co_return 0;
    }
}

void Connection::consume(std::size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
}

Connection::Task<void> Connection::linger() {
    phase_ = Phase::lingering;
    socket_.finish_sending();
    if (shared_.draining) co_return;
    begin_ = end_ = 0;
    if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(max_request_head_bytes);
    const Time last = std::chrono::steady_clock::now() + std::chrono::milliseconds(max_lingering_ms);
    std::uint64_t dropped = 0;
    while (dropped < max_lingering_bytes && std::chrono::steady_clock::now() < last) {
        set_deadline(quiet_lingering_ms);
        const std::size_t got = co_await read_some(buffer_.get(), max_request_head_bytes);
        if (got == 0) co_return;
        dropped += got;
    }
}

void Connection::set_deadline(std::int64_t from_now_ms) {
    deadline_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(from_now_ms);
}

void Connection::expire_if_due(Time now) {
    if (now < deadline_) return;
    clear_deadline();
    timed_out_ = true;
    socket_.cancel();
}

void Connection::drain() {
    if (phase_ == Phase::idle || phase_ == Phase::lingering) abort();
}

void Connection::abort() {
    if (phase_ == Phase::committing) return;
    ended_ = true;
    socket_.cancel();
}

}  // namespace wheelyard::http
