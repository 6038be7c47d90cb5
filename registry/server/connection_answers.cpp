// Replies that need neither a body nor the pool: pages, files, health and metrics.
#include <algorithm>
#include <array>
#include <chrono>

#include "lib/page/assets.hpp"
#include "lib/page/farm.hpp"
#include "registry/http/forwarded.hpp"
#include "registry/http/front_pages.hpp"
#include "registry/server/connection.hpp"
#include "registry/server/limits.hpp"
#include "registry/server/pool_job.hpp"

namespace wheelyard::http {

namespace {

// RFC 9110 §9.1: a method that the resource does not allow is 405; an unknown method is 501.
bool is_known_method(std::string_view method) {
    constexpr std::array known{"GET",     "HEAD",  "POST",  "PUT",    "DELETE",
                               "OPTIONS", "TRACE", "PATCH", "CONNECT"};
    return std::any_of(known.begin(), known.end(), [&](std::string_view m) { return m == method; });
}

// Pages and files of an index: public, so any web page may read them (micropip in a browser).
bool is_public_read(RouteKind kind) {
    return kind == RouteKind::root_page || kind == RouteKind::project_page || kind == RouteKind::file ||
           kind == RouteKind::listing || kind == RouteKind::pypi_json || kind == RouteKind::integrity ||
           kind == RouteKind::redirect;
}

// Where people point an uploader by mistake.
bool is_near_uploads(RouteKind kind) {
    return kind == RouteKind::front || kind == RouteKind::index_front || kind == RouteKind::root_page ||
           kind == RouteKind::project_page || kind == RouteKind::redirect;
}

// Front pages are HTML unless the client names JSON and not HTML.
bool wants_json(std::string_view accept) {
    return accept.find("application/json") != std::string_view::npos &&
           accept.find("text/html") == std::string_view::npos;
}

// https://fetch.spec.whatwg.org/#http-cors-protocol: without credentials, and so without Allow-Credentials.
Reply reply_preflight() {
    Reply reply{204};
    reply.add("Access-Control-Allow-Methods", "GET, HEAD");
    reply.add("Access-Control-Allow-Headers", "Accept, If-None-Match, If-Modified-Since, Range, If-Range");
    reply.add("Access-Control-Max-Age", "86400");
    return reply;
}

Reply unknown_method(const std::string& method) {
    return reply_problem(wire::make_problem({501, "request.method"}, "Not implemented",
                                            "The server does not know this method.", method.substr(0, 32),
                                            "use GET, HEAD or POST"));
}

void allow_other_origins(Reply& reply) {
    reply.add("Access-Control-Allow-Origin", "*");
    reply.add("Access-Control-Expose-Headers", "ETag, Content-Range, Content-Length, Accept-Ranges");
}

// pip and uv try a 503 again.
wire::Problem is_moving(const std::string& index) {
    return wire::make_problem("index.moving", "The index changes",
                              "Who may read this index has changed, and its pages are being published.",
                              index, "try again shortly");
}

wire::Problem no_pages(const std::string& index) {
    return wire::make_problem("index.no_pages", "No web UI",
                              "This index has none, by the registry's configuration.", index,
                              "its packages are listed at /" + index + "/simple/");
}

}  // namespace

IndexEntry Connection::entry_of(std::string_view index) const {
    for (const IndexEntry& entry : served_->entries) {
        if (entry.name == index) return entry;
    }
    return {std::string(index)};
}

std::string Connection::upload_url(const RequestHead& head, const Route& route) const {
    std::string index = route.index;
    const auto& indexes = served_->public_entries;
    if (index.empty() && indexes.size() == 1) index = indexes.front().name;
    return base_url(head) + "/" + (index.empty() ? std::string("<index>") : index) + "/legacy/";
}

wire::Problem Connection::unknown_index(const std::string& index) const {
    return wire::make_problem(
        "index.unknown", "No such index",
        "This registry has no index with this name" + but_one_like(index, served_->public_entries) + ".",
        index, "GET / lists the indexes");
}

Reply Connection::unknown_to_caller(const RequestHead& head, const Route& route) const {
    if (!is_known_method(head.method)) return unknown_method(head.method);
    // One answer for an index that does not exist and one that the token may not read.
    Reply reply = reply_problem(wire::make_problem(
        "index.unknown", "No such index for this token",
        "There is no index with this name, or the token has no right to it; `read` is a right of its own.",
        route.index, "GET / lists the indexes that the token may read"));
    if (is_public_read(route.kind)) allow_other_origins(reply);
    return reply;
}

Connection::Task<Reply> Connection::answer_front(const RequestHead& head) {
    if (shared_.readers->refuse_at_sight(head.authorization))
        co_return answer_route(head, Route{RouteKind::front});
    std::vector<std::string> readable;
    const Slot slot(shared_.reader_checks_now, max_reader_checks);
    if (slot.taken()) {
        PoolJob job(shared_.reader_pool, socket_.executor());
        job.start([&] { readable = shared_.readers->readable(head.authorization); });
        co_await job.join();
    }
    if (readable.empty()) co_return answer_route(head, Route{RouteKind::front});
    std::vector<IndexEntry> entries;
    for (const IndexEntry& entry : served_->entries) {
        if (!entry.is_private || std::find(readable.begin(), readable.end(), entry.name) != readable.end())
            entries.push_back(entry);
    }
    Reply reply = wants_json(head.accept) ? reply_json(200, render_index_list(entries, base_url(head)))
                                          : reply_html(render_front_page(shared_.settings.farm, entries));
    keep_private(reply);
    co_return reply;
}

Reply Connection::asset(const std::string& name) const {
    if (const page::Asset* ours = page::find_asset(name); ours != nullptr)
        return reply_asset(ours->content_type, std::string(ours->bytes));
    for (const auto& [file, bytes] : shared_.settings.farm_files) {
        if (file == name) return reply_asset(page::farm_file_type(name), bytes);
    }
    return reply_problem(wire::make_problem(
        "file.not_found", "Not found", "No page names this file any more.", name, "load the page again"));
}

void Connection::open_to_other_origins(Reply& reply, const Route& route) const {
    if (is_public_read(route.kind) && !is_private(route)) allow_other_origins(reply);
}

Reply Connection::answer_route(const RequestHead& head, const Route& route) {
    if (!is_known_method(head.method)) return unknown_method(head.method);
    const bool of_index = !route.index.empty();
    if (of_index && !served_->names.contains(route.index)) return reply_problem(unknown_index(route.index));
    const std::string allowed = allowed_methods(route);
    const bool reads = head.method == "GET" || head.method == "HEAD";
    if (head.method == "OPTIONS" && is_public_read(route.kind) && !is_private(route))
        return reply_preflight();
    if (head.method == "POST" && is_near_uploads(route.kind))
        return reply_uploads_go_to(head.method, upload_url(head, route));
    if (!reads || route.kind == RouteKind::upload) return reply_method_not_allowed(head.method, allowed);
    const bool is_of_tree = is_public_read(route.kind) || route.kind == RouteKind::web_page;
    if (is_of_tree && served_->moving_names.contains(route.index))
        return reply_problem(is_moving(route.index));
    switch (route.kind) {
        case RouteKind::front:
            if (wants_json(head.accept))
                return reply_json(200, render_index_list(served_->public_entries, base_url(head)));
            return loop_.tree().front(head).value_or(
                reply_html(render_front_page(shared_.settings.farm, served_->public_entries)));
        case RouteKind::health:
            return reply_text(200, "ok\n");
        case RouteKind::readiness:
            return readiness();
        case RouteKind::metrics:
            return metrics();
        case RouteKind::openapi:
            return reply_json(200, shared_.openapi());
        case RouteKind::operators:
            return reply_html(render_operators_page(shared_.settings.farm, root_from(head)));
        case RouteKind::login: {
            Reply reply = reply_html(render_login_page(shared_.settings.farm, root_from(head)));
            reply.add("Referrer-Policy", "no-referrer");  // the address has a code
            return reply;
        }
        case RouteKind::index_front:
            if (wants_json(head.accept))
                return reply_json(200, render_index_list({entry_of(route.index)}, base_url(head)));
            return reply_html(
                render_index_page(shared_.settings.farm, entry_of(route.index), base_url(head)));
        case RouteKind::root_page:
        case RouteKind::project_page:
            return tree_of(route).page(route, head);
        case RouteKind::web_page:
            if (!entry_of(route.index).has_pages) return reply_problem(no_pages(route.index));
            return tree_of(route).web_page(route, head, served_->public_entries);
        case RouteKind::asset:
            return asset(route.filename);
        case RouteKind::file:
            return tree_of(route).file(route, head, is_from_proxy());
        case RouteKind::listing:
            return tree_of(route).listing(route, head);
        case RouteKind::pypi_json:
            return tree_of(route).pypi_json(route, pypi_place(head, route));
        case RouteKind::integrity:
            return tree_of(route).integrity(route, head);
        case RouteKind::redirect:
            return reply_redirect(relative_url(path_of_target(head.target), route.location));
        case RouteKind::api:
        case RouteKind::upload:
        case RouteKind::resumable:
        case RouteKind::resumable_part:
            break;  // handled elsewhere
    }
    return reply_method_not_allowed(head.method, allowed);
}

Reply Connection::readiness() {
    const ServiceState state = service_state();
    if (state.not_ready) return reply_text(503, state.not_ready->text + "\n");
    return reply_text(200, "ready\n" + state.note);
}

ServiceState Connection::service_state() {
    ServiceState state;
    if (shared_.settings.service_state) state = shared_.settings.service_state();
    if (!loop_.tree().is_there()) state.not_ready = {NotReady::no_tree, "the published tree is missing"};
    if (shared_.draining) state.not_ready = {NotReady::draining, "draining"};
    return state;
}

Reply Connection::metrics() {
    const auto number = [](auto value) { return static_cast<double>(value); };
    std::size_t api_requests = shared_.api_requests_now.now();
    for (const OwnerSlots& strangers : shared_.strangers_now)
        api_requests += strangers.now();
    ServiceState state = service_state();
    std::vector<Sample> samples{{"connections", number(shared_.places.connected())},
                                {"max_connections", number(shared_.settings.max_connections)},
                                {"files_in_progress", number(shared_.files_now.now())},
                                {"max_files", number(shared_.settings.max_files)},
                                {"uploads_in_progress", number(shared_.uploads_now.now())},
                                {"max_uploads", number(shared_.settings.max_uploads)},
                                {"max_token_uploads", number(shared_.settings.max_token_uploads)},
                                {"top_token_uploads", number(shared_.uploads_now.max_held())},
                                {"uploads_waiting_for_page", number(shared_.waiting_for_page.load())},
                                {"api_requests_in_progress", number(api_requests)},
                                {"ready", state.not_ready ? 0.0 : 1.0}};
    for (const auto& [reason, word] : not_ready_words.rows)
        samples.push_back({"not_ready", state.not_ready && state.not_ready->reason == reason ? 1.0 : 0.0,
                           "reason=\"" + std::string(word) + "\""});
    samples.insert(samples.end(), state.samples.begin(), state.samples.end());
    Reply reply = reply_text(200, render_metrics(shared_.metrics, std::move(samples)));
    reply.replace("Content-Type", metrics_content_type);
    return reply;
}

PypiIndex Connection::pypi_place(const RequestHead& head, const Route& route) const {
    PypiIndex place{.base_url = base_url(head), .index = route.index};
    if (entry_of(route.index).has_pages) place.pages_url = place.base_url + "/" + route.index + "/project/";
    return place;
}

bool Connection::is_from_proxy() const {
    return is_proxy(socket_.peer_address(), shared_.settings.trusted_proxies);
}

std::string Connection::base_url(const RequestHead& head) const {
    return public_url_of(head, socket_.is_tls(), is_from_proxy(), shared_.settings.public_url);
}

}  // namespace wheelyard::http
