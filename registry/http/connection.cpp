// A connection's life: head, answer, next head.
#include "registry/http/connection.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cstring>

#include "lib/base/text.hpp"
#include "lib/io/log.hpp"
#include "registry/http/front_pages.hpp"
#include "registry/http/limits.hpp"
#include "registry/http/openapi.hpp"

namespace wheelyard::http {

namespace asio = boost::asio;
namespace {

// RFC 9110 §9.1: a method that the server knows but the address does not take is 405, any other 501.
bool is_known_method(std::string_view method) {
    constexpr std::array known{"GET",     "HEAD",  "POST",  "PUT",    "DELETE",
                               "OPTIONS", "TRACE", "PATCH", "CONNECT"};
    return std::any_of(known.begin(), known.end(), [&](std::string_view m) { return m == method; });
}

wire::Problem head_too_large(std::string_view received) {
    if (received.find('\n') == std::string_view::npos)
        return {414,
                "request.target_too_long",
                "URI too long",
                "The request line is longer than any address here.",
                {},
                "check the URL"};
    return {431,
            "request.head_too_large",
            "Request header fields too large",
            "The request's header fields are too large.",
            std::to_string(longest_request_head_bytes) + " bytes at most",
            "send fewer or shorter fields"};
}

}  // namespace

Connection::Connection(IoLoop& loop, ClientSocket::Socket socket, std::shared_ptr<const TlsContext> tls,
                       bool over_capacity)
    : loop_(loop),
      shared_(loop.shared()),
      socket_(std::move(socket), std::move(tls)),
      over_capacity_(over_capacity) {
    loop_.add(*this);
}

Connection::~Connection() {
    loop_.remove(*this);
    if (over_capacity_) --shared_.refusals_now;
    shared_.uncount_connection();
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
        if (!there) co_return;
        phase_ = Phase::working;
        clear_deadline();
        request_id_ = shared_.next_request_id();
        request_began_ = std::chrono::steady_clock::now();
        kind_ = RouteKind::front;
        auto head = parse_request_head(buffered().substr(0, head_size_));
        consume(head_size_);
        if (over_capacity_) {
            wire::Problem full{503,
                               "server.connections",
                               "Too many connections",
                               "The server has all the connections it takes.",
                               {},
                               "try again shortly"};
            co_await refuse_head(std::move(full));
            co_return;
        }
        if (!head) {
            co_await refuse_head(std::move(head.error()));
            co_return;
        }
        const bool again = co_await handle(*head);
        if (!again || ended_) co_return;
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

// True once buffered() begins with a whole head of head_size_ bytes. False: the connection is over, and said
// so if need be.
Connection::Task<bool> Connection::read_head() {
    phase_ = Phase::idle;
    std::size_t searched = 0;
    // Once a head: whatever comes before its first byte (empty lines do) must not put the end off.
    const std::int64_t first_ms = over_capacity_ ? quiet_lingering_ms : shared_.settings.header_timeout_ms;
    set_deadline(request_id_.empty() ? first_ms : shared_.settings.idle_timeout_ms);
    for (;;) {
        // Empty lines before a request are tolerated (RFC 9112 §2.2).
        while (buffered().starts_with("\r\n"))
            consume(2);
        const std::string_view bytes = buffered();
        if (!bytes.empty()) {
            if (phase_ == Phase::idle) {
                phase_ = Phase::head;  // from its first byte on, a head has this long, however it trickles in
                set_deadline(over_capacity_ ? quiet_lingering_ms : shared_.settings.header_timeout_ms);
            }
            const std::size_t found = find_head_end(bytes, searched);
            if (found != std::string_view::npos) {
                head_size_ = found;
                co_return true;
            }
            searched = bytes.size();
            // A method begins with a letter; a TLS greeting, for one, does not. No need to wait for the rest.
            if (!base::is_ascii_alpha(bytes[0]) && bytes[0] != '\r') {
                wire::Problem no_http{400,
                                      "request.malformed",
                                      "Bad request",
                                      "This is not an HTTP request.",
                                      {},
                                      "speak plain HTTP to this port"};
                co_await refuse_head(std::move(no_http));
                co_return false;
            }
            if (bytes.size() == longest_request_head_bytes) {
                wire::Problem too_large = head_too_large(bytes);
                co_await refuse_head(std::move(too_large));
                co_return false;
            }
        } else if (phase_ == Phase::idle) {
            if (shared_.draining) co_return false;
        }
        const std::size_t got = co_await read_into_buffer();
        if (got > 0) continue;
        if (timed_out_ && phase_ == Phase::head) {
            wire::Problem late{
                408, "request.timeout", "Request timeout", "The request head did not arrive in time.",
                {},  "try again"};
            co_await refuse_head(std::move(late));
        }
        co_return false;
    }
}

// Answers a head that is no request. What follows it cannot be told apart, so the connection ends.
Connection::Task<void> Connection::refuse_head(wire::Problem problem) {
    phase_ = Phase::working;
    timed_out_ = false;
    if (request_id_.empty()) request_id_ = shared_.next_request_id();
    RequestHead nothing_known;
    nothing_known.keep_alive = false;
    Reply reply = reply_problem(problem);
    co_await send_and_linger(nothing_known, reply);
}

Connection::Task<bool> Connection::handle(const RequestHead& head) {
    Answered<Route> route = parse_target(head.target);
    if (route) kind_ = route->kind;
    if (route && route->kind == RouteKind::api) {
        const bool again = co_await answer_api(head, *route);
        co_return again;
    }
    const bool uploads = route && ((route->kind == RouteKind::upload && head.method == "POST") ||
                                   (route->kind == RouteKind::resumable_part && head.method == "PATCH"));
    if (uploads) {
        const bool again = co_await receive_upload(head, *route);
        co_return again;
    }
    Reply reply;
    if (!route)
        reply = reply_problem(route.error());
    else if (route->kind == RouteKind::resumable || route->kind == RouteKind::resumable_part)
        reply = co_await answer_resumable(head, *route);
    else
        reply = answer(head, *route);
    // No other request here has a use for a body; reading it only to drop it is what lingering does.
    bool again = false;
    if (head.has_body())
        again = co_await send_and_linger(head, reply);
    else
        again = co_await send(head, reply, false);
    co_return again;
}

wire::Problem Connection::unknown_index(const std::string& index) {
    return {404,   "index.unknown",          "No such index", "This registry has no index of that name.",
            index, "GET / lists the indexes"};
}

Reply Connection::answer(const RequestHead& head, const Route& route) {
    if (!is_known_method(head.method))
        return reply_problem({501, "request.method", "Not implemented", "The method is not known.",
                              head.method.substr(0, 32), "use GET, HEAD or POST"});
    const bool of_index = !route.index.empty();
    if (of_index && shared_.indexes.find(route.index) == shared_.indexes.end())
        return reply_problem(unknown_index(route.index));
    const std::string allowed = allowed_methods(route);
    const bool reads = head.method == "GET" || head.method == "HEAD";
    if (!reads || route.kind == RouteKind::upload) return reply_method_not_allowed(head.method, allowed);
    switch (route.kind) {
        case RouteKind::front:
            return reply_html(render_front_page(shared_.indexes));
        case RouteKind::health:
            return reply_text(200, "ok\n");
        case RouteKind::readiness:
            return readiness();
        case RouteKind::metrics:
            return metrics();
        case RouteKind::openapi:
            return reply_json(200, render_openapi());
        case RouteKind::index_front:
            return reply_html(render_index_page(route.index, base_url(head)));
        case RouteKind::root_page:
        case RouteKind::project_page:
            return loop_.tree().page(route, head);
        case RouteKind::file:
            return loop_.tree().file(route, head);
        case RouteKind::listing:
            return loop_.tree().listing(route, head);
        case RouteKind::redirect:
            return reply_redirect(route.location);
        case RouteKind::api:
        case RouteKind::upload:
        case RouteKind::resumable:
        case RouteKind::resumable_part:
            break;  // answered elsewhere
    }
    return reply_method_not_allowed(head.method, allowed);
}

Reply Connection::readiness() {
    if (shared_.draining) return reply_text(503, "draining\n");
    if (!loop_.tree().is_there()) return reply_text(503, "the published tree is missing\n");
    if (shared_.settings.service_state) {
        const ServiceState state = shared_.settings.service_state();
        if (!state.not_ready.empty()) return reply_text(503, state.not_ready + "\n");
    }
    return reply_text(200, "ready\n");
}

Reply Connection::metrics() {
    const auto uptime = std::chrono::steady_clock::now() - shared_.started;
    const auto number = [](auto value) { return static_cast<double>(value); };
    std::vector<Gauge> gauges{
        {"connections", "Clients connected", number(shared_.connections())},
        {"most_connections", "Clients that may be connected at once",
         number(shared_.settings.most_connections)},
        {"uploads_in_progress", "Uploads under way", number(shared_.uploads_now.load())},
        {"most_uploads", "Uploads that may be under way at once", number(shared_.settings.most_uploads)},
        {"uploads_waiting_for_page", "Uploads committed whose page is not out yet",
         number(shared_.waiting_for_page.load())},
        {"api_requests_in_progress", "API requests under way", number(shared_.api_requests_now.load())},
        {"uptime_seconds", "Since the server started", std::chrono::duration<double>(uptime).count()}};
    if (shared_.settings.service_state) {
        ServiceState state = shared_.settings.service_state();
        gauges.push_back(
            {"ready", "1 while /readyz answers 200",
             state.not_ready.empty() && !shared_.draining && loop_.tree().is_there() ? 1.0 : 0.0});
        gauges.insert(gauges.end(), state.gauges.begin(), state.gauges.end());
    }
    Reply reply = reply_text(200, render_metrics(shared_.metrics, gauges));
    reply.replace("Content-Type", metrics_content_type);
    return reply;
}

// How the client reached this server, as far as that can be known.
std::string Connection::base_url(const RequestHead& head) const {
    if (!shared_.settings.public_url.empty()) return shared_.settings.public_url;
    std::string_view scheme = socket_.is_tls() ? "https" : "http";
    std::string_view host = head.host;
    const std::vector<std::string>& trusted = shared_.settings.trusted_proxies;
    if (!trusted.empty() &&
        std::find(trusted.begin(), trusted.end(), socket_.peer_address()) != trusted.end()) {
        if (head.forwarded_proto == "https" || head.forwarded_proto == "http") scheme = head.forwarded_proto;
        if (!head.forwarded_host.empty() && is_plausible_host(head.forwarded_host))
            host = head.forwarded_host;
    }
    std::string url(scheme);
    return url.append("://").append(host);
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
    const bool ready = co_await socket_.wait(step);
    co_return ready && !timed_out_ && !ended_;
}

Connection::Task<std::size_t> Connection::read_into_buffer() {
    if (end_ == longest_request_head_bytes) {
        std::memmove(buffer_.get(), buffer_.get() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    for (;;) {
        if (timed_out_ || ended_) co_return 0;
        if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(longest_request_head_bytes);
        const ClientSocket::Tried tried =
            socket_.try_read(buffer_.get() + end_, longest_request_head_bytes - end_);
        if (tried.step == ClientSocket::Step::moved) {
            end_ += tried.bytes;
            co_return tried.bytes;
        }
        if (buffered().empty()) buffer_.reset();
        const bool ready = co_await wait_for(tried.step);
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
    if (!buffer_) buffer_ = std::make_unique_for_overwrite<char[]>(longest_request_head_bytes);
    const Time last = std::chrono::steady_clock::now() + std::chrono::milliseconds(most_lingering_ms);
    std::uint64_t dropped = 0;
    while (dropped < most_lingering_bytes && std::chrono::steady_clock::now() < last) {
        set_deadline(quiet_lingering_ms);
        const std::size_t got = co_await read_some(buffer_.get(), longest_request_head_bytes);
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
