// Who may read: asked before anything under a private index is answered, off the I/O thread.
#include "lib/base/text/text.hpp"
#include "registry/server/connection.hpp"
#include "registry/server/limits.hpp"
#include "registry/server/pool_job.hpp"

namespace wheelyard::http {

namespace {

wire::Problem readers_busy() {
    return wire::make_problem("auth.busy", "Too many requests to private indexes",
                              "The server has reached its limit of tokens that it checks at once.", {},
                              "try again shortly");
}

// A stranger learns of no private index, and of each public one, as on the front page.
wire::Problem unknown_or_private(wire::Problem refused, const std::string& index,
                                 const std::vector<IndexEntry>& public_entries) {
    constexpr std::size_t max_named = 20;
    std::vector<std::string> names;
    for (const IndexEntry& entry : public_entries) {
        if (entry.is_advertised && names.size() < max_named) names.push_back(entry.name);
    }
    refused.title = "The index is unknown, or private";
    refused.detail = "This index is unknown, or private, and no token was sent" +
                     but_one_like(index, public_entries) +
                     (names.empty() ? "" : "; the public indexes are " + base::join(names, ", ")) + ".";
    refused.advice = "check the name; for a private one " + refused.advice;
    return refused;
}

ReadRequest read_request(const RequestHead& head, const Route& route) {
    ReadRequest request{.authorization = head.authorization, .index = route.index};
    switch (route.kind) {
        case RouteKind::upload:
        case RouteKind::resumable:
        case RouteKind::resumable_part:
            request.scope = ReadScope::index_exists;
            break;
        case RouteKind::index_front:
        case RouteKind::redirect:
            request.scope = route.project.empty() ? ReadScope::some_project : ReadScope::project;
            request.project = route.project;
            break;
        case RouteKind::file:
            request.scope = ReadScope::project;
            request.project = route.project;  // of a version's variants; of other files the name says it
            request.filename = route.project.empty() ? route.filename : "";
            break;
        case RouteKind::project_page:
        case RouteKind::pypi_json:
        case RouteKind::integrity:
        case RouteKind::web_page:
            if (route.project.empty()) break;
            request.scope = ReadScope::project;
            request.project = route.project;
            break;
        case RouteKind::front:
        case RouteKind::health:
        case RouteKind::readiness:
        case RouteKind::metrics:
        case RouteKind::openapi:
        case RouteKind::operators:
        case RouteKind::login:
        case RouteKind::api:
        case RouteKind::root_page:
        case RouteKind::asset:
        case RouteKind::listing:
            break;
    }
    return request;
}

}  // namespace

bool Connection::is_private(const Route& route) const {
    return !route.index.empty() && served_->private_names.contains(route.index);
}

// No index has a dot in its name: /favicon.ico is 404 at once, and asks no browser for a password.
bool Connection::may_be_private(const Route& route) const {
    if (route.index.empty()) return false;
    if (!served_->names.contains(route.index)) return route.index.find('.') == std::string::npos;
    return is_private(route);
}

// The front page differs only for callers with credentials. The API checks its callers itself. Beside private
// indexes, one that does not exist is answered as they are, by the same steps: a stranger learns of neither.
bool Connection::asks_reader(const RequestHead& head, const Route& route) const {
    if (served_->private_names.empty()) return false;
    if (route.kind != RouteKind::front) return may_be_private(route);
    const bool reads = head.method == "GET" || head.method == "HEAD";
    return reads && !head.authorization.empty() && shared_.readers != nullptr;
}

Connection::Task<std::optional<Reply>> Connection::answer_by_reader(const RequestHead& head,
                                                                    const Route& route) {
    if (route.kind == RouteKind::front) {
        Reply front = co_await answer_front(head);
        co_return front;
    }
    if (shared_.readers == nullptr) co_return unknown_to_caller(head, route);
    if (const auto refused = shared_.readers->refuse_at_sight(head.authorization)) {
        const bool sends = route.kind == RouteKind::upload || route.kind == RouteKind::resumable ||
                           route.kind == RouteKind::resumable_part;
        co_return reply_problem(head.authorization.empty() && !sends
                                    ? unknown_or_private(*refused, route.index, served_->public_entries)
                                    : *refused);
    }
    const Slot slot(shared_.reader_checks_now, max_reader_checks);
    if (!slot.taken()) co_return reply_problem(readers_busy());
    const ReadRequest request = read_request(head, route);
    Answered<Reader> reader;
    PoolJob job(shared_.reader_pool, socket_.executor());
    job.start([&] { reader = shared_.readers->may_read(request); });
    const bool ran = co_await job.join();
    if (!ran) co_return reply_problem(problem_to_repeat());
    if (!reader) co_return reply_problem(reader.error());
    if (!reader->may_read || !served_->names.contains(route.index)) co_return unknown_to_caller(head, route);
    client_ = std::move(reader->token);
    co_return std::nullopt;
}

PublishedTree& Connection::tree_of(const Route& route) {
    return is_private(route) ? loop_.private_tree() : loop_.tree();
}

}  // namespace wheelyard::http
