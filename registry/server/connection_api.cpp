// API requests: read the small body whole, then take a slot, reply from the pool.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"
#include "registry/http/compression.hpp"
#include "registry/http/cookie.hpp"
#include "registry/http/forwarded.hpp"
#include "registry/http/ranges.hpp"
#include "registry/http/reply.hpp"
#include "registry/server/connection.hpp"
#include "registry/server/limits.hpp"
#include "registry/server/pool_job.hpp"

namespace wheelyard::http {

namespace {

constexpr std::size_t max_waiting_strangers = 512;
constexpr std::size_t first_body_bytes = 4 * base::kib;  // of memory; more as bytes arrive

wire::Problem body_too_large(std::size_t max_body_bytes) {
    return wire::make_problem(
        "api.body_too_large", "Content too large", "The API accepts small JSON documents only.",
        std::to_string(max_body_bytes) + " bytes at most", "upload files to /<index>/legacy/");
}

wire::Problem api_busy() {
    return wire::make_problem("api.busy", "Too many API requests",
                              "The server has reached its limit of API requests.", {}, "try again shortly");
}

// A change may have happened: nobody is told to repeat it.
wire::Problem api_internal_problem() {
    return internal_problem("report the request ID to the administrator");
}

// What is kept may be for some readers only. The tag is weak, since the reply may be compressed.
void let_clients_keep(std::string_view if_none_match, std::string_view tag, Reply& reply) {
    const std::string etag = "\"" + std::string(tag) + "\"";
    reply.replace("Cache-Control", "private, no-cache");
    reply.add("ETag", "W/" + etag);
    if (!names_etag(if_none_match, etag)) return;
    reply.status = 304;
    reply.body = std::string();
}

enum class ApiStep { admit, read_body, take_slot };
using ApiSteps = std::array<ApiStep, 3>;
// A client that sends slowly holds no slot while it does. A site report is larger, and needs a token.
ApiSteps steps_of(const Operation& operation) {
    using enum ApiStep;
    if (operation.max_body_bytes > max_api_body_bytes) return {admit, take_slot, read_body};
    if (operation.needs_token) return {admit, read_body, take_slot};
    return {read_body, admit, take_slot};
}

}  // namespace

std::optional<Reply> Connection::refusal_before_api(const RequestHead& head, const Route& route) const {
    const Operation* operation = find_operation(shared_.settings.operations, head.method, route.api_path);
    if (operation == nullptr)
        return reply_method_not_allowed(head.method, allowed_methods(route, shared_.settings.operations));
    if (shared_.api == nullptr)
        return reply_problem(wire::make_problem("api.absent", "Not found", "This server has no API."));
    if (head.content_length && *head.content_length > operation->max_body_bytes)
        return reply_problem(body_too_large(operation->max_body_bytes));
    return std::nullopt;
}

Connection::Task<bool> Connection::answer_api(const RequestHead& head, const Route& route) {
    Body body;
    body.chunked = head.chunked;
    body.left = head.content_length.value_or(0);
    std::optional<Reply> reply = refusal_before_api(head, route);
    if (!reply) reply = co_await run_api(head, route, body);
    if (!reply) co_return false;
    // Of a page, ours or not: a browser would ask its user, not the script.
    const bool has_bearer =
        base::equals_ignoring_case(std::string_view(head.authorization).substr(0, 7), "bearer ");
    if (has_bearer || !head.fetch_site.empty() || is_for_browsers(head.accept)) ask_no_browser(*reply);
    if (head.method == "GET" && is_for_browsers(head.accept))
        show_in_browser(shared_.settings.farm, root_from(head), *reply, false);
    if (route.api_path.starts_with(publishing_root)) tell_publisher(reply.value());
    bool again = false;
    if (body.ended())
        again = co_await send(head, *reply, false);
    else
        again = co_await send_and_linger(head, *reply);
    co_return again;
}

Connection::Task<std::optional<Reply>> Connection::run_api(const RequestHead& head, const Route& route,
                                                           Body& body) {
    const Operation& operation = *find_operation(shared_.settings.operations, head.method, route.api_path);
    ApiRequest request{request_id_, operation.id};
    request.parameters = route.parameters;
    request.query = route.query;
    request.authorization = head.authorization;
    request.content_type = head.content_type;
    request.if_none_match = head.if_none_match;
    request.client = client_address(head);
    const bool asks_provider =
        operation.pool == StrangersPool::login || operation.pool == StrangersPool::publisher;
    PoolJob job(asks_provider ? shared_.provider_pool : shared_.pool, socket_.executor());
    Admission admitted;
    std::optional<OwnerSlots::Held> slot;
    for (const ApiStep step : steps_of(operation)) {
        Answered<bool> done = true;
        if (step == ApiStep::admit)
            done = co_await admit(request, job, admitted);
        else if (step == ApiStep::read_body)
            done = co_await read_small_body(head, body, operation, request.body);
        else
            done = co_await take_api_slot(operation, request, admitted, slot);
        if (!done) co_return reply_problem(done.error());
        if (!*done) co_return std::nullopt;
    }
    std::optional<Reply> reply;
    reply = co_await carry_out(head, request, job);
    co_return reply;
}

Connection::Task<Answered<bool>> Connection::admit(const ApiRequest& request, PoolJob& job,
                                                   Admission& admitted) {
    Answered<Admission> answer;
    job.start([&] { answer = shared_.api->admit(request); });
    const bool ran = co_await job.join();
    if (!ran || !answer) co_return tl::unexpected(ran ? answer.error() : problem_to_repeat());
    admitted = *std::move(answer);
    co_return true;
}

// Of the slots of tokens, of which an administrator's has all; or of strangers at this door and of this
// network.
Connection::Task<Answered<bool>> Connection::take_api_slot(const Operation& operation,
                                                           const ApiRequest& request,
                                                           const Admission& admitted,
                                                           std::optional<OwnerSlots::Held>& slot) {
    const bool is_stranger = admitted.owner.empty();
    const auto pool = static_cast<std::size_t>(operation.pool);
    const std::string owner = is_stranger ? network_of_client(request.client) : admitted.owner;
    const auto take = [&] {
        if (is_stranger)
            slot.emplace(shared_.strangers_now[pool], owner, max_api_requests_of_strangers);
        else if (admitted.may_administer)
            slot.emplace(shared_.api_requests_now, std::string(), max_api_requests);
        else
            slot.emplace(shared_.api_requests_now, owner, max_api_requests - api_slots_of_administrators);
        return slot->taken();
    };
    bool has_slot = take();
    // Who has sent all waits for others: a flood from many networks takes all places, but none for long.
    if (!has_slot && is_stranger) {
        const OwnerSlots::Held waiting(shared_.strangers_waiting[pool], owner, max_waiting_strangers);
        std::int64_t left_ms = waiting.taken() ? shared_.settings.strangers_wait_ms : 0;
        for (; !has_slot && left_ms > 0 && !shared_.draining; left_ms -= strangers_turn_ms) {
            slot.reset();
            PageWait turn(socket_.executor());
            co_await turn.wait(strangers_turn_ms);
            has_slot = take();
        }
    }
    if (!has_slot) co_return tl::unexpected(api_busy());
    co_return true;
}

Connection::Task<Reply> Connection::carry_out(const RequestHead& head, const ApiRequest& request,
                                              PoolJob& job) {
    phase_ = Phase::committing;  // the change may be in progress: do not abort before the reply
    Answered<ApiReply> answer;
    std::optional<Reply> text;  // of a log, compressed here, where it holds up no other client
    job.start([&] {
        answer = shared_.api->answer(request);
        if (!answer || !answer->text || answer->when_visible) return;
        text = reply_text(answer->status, *std::move(answer->text));
        compress_reply(*text, head);
    });
    const bool ran = co_await job.join();
    Reply reply;
    if (!ran)
        reply = reply_problem(api_internal_problem());
    else if (!answer)
        reply = reply_problem(answer.error());
    else if (text)
        reply = *std::move(text);
    else
        reply = co_await await_visible(*answer);
    if (ran && answer)
        for (const auto& [index, value] : answer->cookies)
            reply.add("Set-Cookie", set_cookie(base_url(head), index, value));
    if (ran && answer && !answer->tag.empty()) let_clients_keep(head.if_none_match, answer->tag, reply);
    phase_ = Phase::working;
    co_return reply;
}

Connection::Task<Reply> Connection::await_visible(ApiReply& answer) {
    if (answer.when_visible) {
        PageWait page(socket_.executor());
        answer.when_visible(page.answer());
        const std::optional<bool> visible = co_await page.wait(shared_.settings.page_wait_ms);
        if (!visible.value_or(false)) {
            io::log_warn("api.page_lags",
                         {{"request", request_id_},
                          {"why", visible ? "publishing failed" : "page_wait_s has passed"}});
            co_return reply_problem(answer.if_not_visible);
        }
    }
    if (answer.text) co_return reply_text(answer.status, *std::move(answer.text));
    co_return reply_json(answer.status, std::move(answer.json));
}

Connection::Task<Answered<bool>> Connection::read_small_body(const RequestHead& head, Body& body,
                                                             const Operation& operation, std::string& into) {
    if (head.expects_continue && buffered().empty() && !body.ended()) {
        const bool there = co_await write("HTTP/1.1 100 Continue\r\n\r\n", {}, false);
        if (!there) co_return false;
    }
    // A small body has the time that a head has, however steadily it trickles, and a stranger's less.
    const std::int64_t limit_ms =
        operation.needs_token ? shared_.settings.header_timeout_ms
                              : std::min(shared_.settings.header_timeout_ms, strangers_body_timeout_ms);
    body.pace.ends = std::chrono::steady_clock::now() + std::chrono::milliseconds(limit_ms);
    const std::size_t max_bytes = operation.max_body_bytes;
    std::string bytes;
    std::size_t filled = 0;
    Filled state = Filled::more;
    while (state == Filled::more && filled <= max_bytes) {
        // One more byte than the limit, to detect bodies that are too large.
        bytes.resize(std::min(max_bytes + 1, std::max(first_body_bytes, 2 * filled)));
        state = co_await fill(body, bytes.data(), bytes.size(), filled);
    }
    if (state == Filled::gone) co_return false;
    timed_out_ = false;
    if (state == Filled::late || state == Filled::malformed)
        co_return tl::unexpected(problem_of_body(state == Filled::late));
    if (filled > max_bytes || !body.ended()) co_return tl::unexpected(body_too_large(max_bytes));
    bytes.resize(filled);
    into = std::move(bytes);
    co_return true;
}

}  // namespace wheelyard::http
