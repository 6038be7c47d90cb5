// Requests that another node answers, and what a node without a lease answers.
#include "registry/http/forwarded.hpp"
#include "registry/server/connection.hpp"
#include "registry/server/pool_job.hpp"

namespace wheelyard::http {

namespace {

// Requests that another node answers: each uses as much as an upload, and waits on a thread of its own while
// it does.
constexpr std::size_t max_forwards = 32;
constexpr std::size_t max_forwards_of_strangers = 8;  // of them: who has a token finds the others free
constexpr std::size_t max_forwarded_fetches =
    8;  // of files, which may take minutes; uploads need threads, too

wire::Problem forwards_busy() {
    return wire::make_problem("node.busy", "Too many requests to the node that writes",
                              "This node has reached its limit of requests that another one answers.", {},
                              "try again shortly");
}

}  // namespace

// What the tree shows; the API reads the database, and the rest says nothing of files.
bool Connection::may_answer(const Route& route) const {
    switch (route.kind) {
        case RouteKind::front:
        case RouteKind::index_front:
        case RouteKind::root_page:
        case RouteKind::project_page:
        case RouteKind::file:
        case RouteKind::web_page:
        case RouteKind::listing:
        case RouteKind::pypi_json:
        case RouteKind::integrity:
            return !shared_.settings.may_answer || shared_.settings.may_answer();
        default:
            return true;
    }
}

// Without the database nobody can write, and no token can be checked.
std::optional<wire::Problem> Connection::refusal_of_node(const RequestHead& head, const Route& route) {
    if (shared_.settings.reading_only) reading_only_ = shared_.settings.reading_only();
    if (!may_answer(route)) {
        reading_only_.clear();
        return no_lease();
    }
    const bool reads = head.method == "GET" || head.method == "HEAD";
    const bool writes = (route.kind == RouteKind::upload && head.method == "POST") ||
                        route.kind == RouteKind::resumable || route.kind == RouteKind::resumable_part ||
                        (route.kind == RouteKind::api && !reads);
    if (writes && !reading_only_.empty()) return reads_only(reading_only_);
    return std::nullopt;
}

std::string Connection::client_address(const RequestHead& head) const {
    if (shared_.forward != nullptr && head.for_node == shared_.forward->id()) return head.client_of_node;
    return client_of(head, socket_.peer_address(), shared_.settings.trusted_proxies);
}

std::string Connection::network_of(const RequestHead& head) const {
    return network_of_client(client_address(head));
}

bool Connection::is_writer_here() const {
    return shared_.forward == nullptr || shared_.forward->writer() == ForwardService::Writer::here;
}

// Who writes is asked last: pages and files need not know it.
bool Connection::is_for_writer(const RequestHead& head, const Route& route) const {
    if (shared_.forward == nullptr) return false;
    const bool reads = head.method == "GET" || head.method == "HEAD";
    switch (route.kind) {
        case RouteKind::upload:
            return head.method == "POST" && !is_writer_here();
        case RouteKind::resumable:
        case RouteKind::resumable_part:
            return !is_writer_here();
        case RouteKind::api: {
            const Operation* operation =
                find_operation(shared_.settings.operations, head.method, route.api_path);
            return operation != nullptr && (!reads || operation->is_kept_by_writer) && !is_writer_here();
        }
        case RouteKind::project_page:
        case RouteKind::pypi_json:
            // Without the database there is none: what the tree has of the project is answered.
            return may_come_from_upstream(head, route) && !is_writer_here() && reading_only_.empty();
        default:
            return false;
    }
}

Connection::Task<bool> Connection::answer_by_writer(const RequestHead& head, const Route& route) {
    Body body;
    body.chunked = head.chunked;
    body.left = head.content_length.value_or(0);
    Reply reply;
    const std::optional<wire::Problem> refused = co_await refusal_before_forward(head, route);
    if (refused) {
        reply = reply_problem(*refused);
    } else {
        const Operation* operation =
            route.kind == RouteKind::api
                ? find_operation(shared_.settings.operations, head.method, route.api_path)
                : nullptr;
        const bool is_open = operation != nullptr && !operation->needs_token;
        const std::string stranger = is_open ? network_of(head) : std::string();
        const bool there = co_await run_forward(head, body, reply, stranger, operation);
        if (!there) co_return false;
    }
    if (route.api_path.starts_with(publishing_root)) tell_publisher(reply);
    open_to_other_origins(reply, route);
    if (is_private(route)) keep_private(reply);
    const bool again = co_await send_and_linger_if(!body.ended(), head, reply);
    co_return again;
}

// A stranger takes none of the few slots, or few for what needs no token. What a token permits the writer
// decides.
Connection::Task<std::optional<wire::Problem>> Connection::refusal_before_forward(const RequestHead& head,
                                                                                  const Route& route) {
    const Operation* operation = route.kind == RouteKind::api ? find_operation(shared_.settings.operations,
                                                                               head.method, route.api_path)
                                                              : nullptr;
    const bool needs_token =
        operation != nullptr ? operation->needs_token
                             : route.kind != RouteKind::project_page && route.kind != RouteKind::pypi_json;
    if (!needs_token || shared_.api == nullptr) co_return std::nullopt;
    ApiRequest request{request_id_, {}};
    request.authorization = head.authorization;
    PoolJob job(shared_.pool, socket_.executor());
    Admission admitted;
    const Answered<bool> done = co_await admit(request, job, admitted);
    if (!done) co_return done.error();
    co_return std::nullopt;
}

// Returns false if the client is gone.
Connection::Task<bool> Connection::run_forward(const RequestHead& head, Body& body, Reply& reply,
                                               const std::string& stranger, const Operation* operation) {
    std::string whole;
    const bool is_whole = operation != nullptr && operation->max_body_bytes <= max_api_body_bytes;
    if (is_whole) {
        const Answered<bool> there = co_await read_small_body(head, body, *operation, whole);
        if (!there) reply = reply_problem(there.error());
        if (!there || !*there) co_return !there;
    }
    const OwnerSlots::Held slot(shared_.forwards_now, stranger,
                                stranger.empty() ? max_forwards : max_forwards_of_strangers);
    if (!slot.taken()) {
        reply = reply_problem(forwards_busy());
        co_return true;
    }
    PoolJob job(*shared_.forward_pool, socket_.executor());
    Answered<std::unique_ptr<ForwardedRequest>> request;
    const std::string client = client_address(head);
    job.start([&] { request = shared_.forward->begin(head, client); });
    const bool began = co_await job.join();
    if (!began || !request) {
        reply = reply_problem(began ? request.error() : problem_to_repeat());
        co_return true;
    }
    bool is_there = true;
    std::optional<wire::Problem> problem;
    if (is_whole && !whole.empty()) {
        Answered<void> fed;
        job.start([&] { fed = (*request)->feed(whole); });
        const bool ran = co_await job.join();
        if (!ran || !fed) problem = ran ? fed.error() : problem_to_repeat();
    }
    if (head.expects_continue && buffered().empty() && !body.ended())
        is_there = co_await write("HTTP/1.1 100 Continue\r\n\r\n", {}, false);
    if (is_there && !problem) is_there = co_await pump_body(body, **request, job, problem);
    if (is_there && !problem) {
        phase_ = Phase::committing;
        job.start([&] { reply = (*request)->finish(); });
        const bool ran = co_await job.join();
        if (!ran) problem = problem_to_repeat();
        phase_ = Phase::working;
    }
    job.start([&] { request->reset(); });
    co_await job.join();
    if (problem) reply = reply_problem(*problem);
    co_return is_there;
}

// A file that an upstream has, or while the node only reads a page: the writer fetches it, and then this
// node's tree has it, too. The request for its first byte ends when all of it is stored and every node shows
// it.
Connection::Task<Reply> Connection::answer_fetched_by_writer(const RequestHead& head, const Route& route) {
    Reply stored = answer_route(head, route);
    if (stored.status != 404) co_return stored;
    RequestHead wanted = head;
    wanted.method = "GET";
    const bool is_text = route.kind != RouteKind::file || route.filename.ends_with(".metadata") ||
                         route.filename.ends_with(attestations_suffix);
    wanted.range = is_text ? head.range : "bytes=0-0";
    wanted.if_range.clear();
    wanted.if_none_match.clear();
    wanted.if_modified_since.clear();
    const Slot slot(shared_.forwarded_fetches_now, max_forwarded_fetches);
    const bool is_optional = route.kind == RouteKind::web_page;  // the page that this node has is one, too
    if (!slot.taken()) co_return is_optional ? std::move(stored) : reply_problem(forwards_busy());
    Body none;
    Reply fetched;
    const std::string no_stranger;
    co_await run_forward(wanted, none, fetched, no_stranger, nullptr);
    if (is_optional && fetched.status >= 500) co_return stored;
    if (is_text || fetched.status >= 300) co_return fetched;
    co_return answer_route(head, route);
}

}  // namespace wheelyard::http
