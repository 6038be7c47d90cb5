// Pages and files of indexes with upstreams: the service says whether the published tree has the answer, or
// brings it.
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "registry/http/forwarded.hpp"
#include "registry/http/front_pages.hpp"
#include "registry/http/rendered_page.hpp"
#include "registry/server/connection.hpp"
#include "registry/server/limits.hpp"
#include "registry/server/pool_job.hpp"

namespace wheelyard::http {
namespace {

// Below the timeout of pip's requests (15 s): a cached page is better than none.
constexpr std::int64_t upstream_page_wait_ms = 10'000;
// For a page that was never fetched: the client's timeout decides.
constexpr std::int64_t upstream_first_page_wait_ms = 60'000;
constexpr std::size_t max_upstream_waits = 1'024;  // concurrent; each holds a connection

bool is_web_page_of_project(const Route& route) {
    return route.kind == RouteKind::web_page && !route.project.empty() &&
           route.filename.ends_with("/index.html");
}

wire::Problem upstream_late() {
    return wire::make_problem("upstream.late", "The upstream is slow",
                              "The upstream has not sent this yet; it is still being fetched.", {},
                              "try again shortly");
}

}  // namespace

// A page file is the published tree's, which lists what was fetched.
bool Connection::may_come_from_upstream(const RequestHead& head, const Route& route) const {
    const bool is_read = head.method == "GET" || head.method == "HEAD";
    const bool is_page =
        (route.kind == RouteKind::project_page && !route.names_page_file) ||
        route.kind == RouteKind::pypi_json ||
        (is_web_page_of_project(route) && entry_of(route.index).has_pages && is_for_browsers(head.accept));
    const bool is_file = route.kind == RouteKind::file || route.kind == RouteKind::integrity;
    return is_read && (is_page || is_file) && shared_.upstream != nullptr &&
           !served_->moving_names.contains(route.index) && shared_.upstream->serves(route.index);
}

// nullptr: no answer in time, or the request failed on the pool.
Connection::Task<std::shared_ptr<UpstreamAnswer>> Connection::ask_upstream(UpstreamRequest request,
                                                                           std::int64_t wait_ms) {
    const auto found = std::make_shared<UpstreamAnswer>();
    PageWait arrival(socket_.executor());
    PoolJob job(shared_.pool, socket_.executor());
    job.start([&service = *shared_.upstream, &request, found, done = arrival.answer()] {
        service.find(request, [found, done](UpstreamAnswer answer) {
            *found = std::move(answer);
            done(true);
        });
    });
    const bool ran = co_await job.join();
    if (!ran) co_return nullptr;
    const std::optional<bool> arrived = co_await arrival.wait(wait_ms);
    if (!arrived) co_return nullptr;
    co_return found;
}

// As ask_upstream; an older page if the upstream is slow.
Connection::Task<std::shared_ptr<UpstreamAnswer>> Connection::ask_for_page(UpstreamRequest request) {
    auto found = co_await ask_upstream(request, upstream_page_wait_ms);
    if (found || !request.may_wait) co_return found;
    request.may_wait = false;
    found = co_await ask_upstream(request, upstream_page_wait_ms);
    if (!found || found->kind != UpstreamAnswer::Kind::problem) co_return found;
    request.may_wait = true;  // there is no older page: join the request
    co_return co_await ask_upstream(request, upstream_first_page_wait_ms);
}

// From the page that an installer gets now, and METADATA of one of its wheels, which may be the upstream's,
// too.
Connection::Task<Reply> Connection::answer_pypi_json(const RequestHead& head, const Route& route,
                                                     UpstreamRequest request,
                                                     std::shared_ptr<const RenderedPage> page) {
    base::Result<PypiProject> project;
    PoolJob job(shared_.pool, socket_.executor());
    job.start([&] { project = read_pypi_project(page->json, route.version); });
    if (!co_await job.join()) co_return reply_problem(problem_to_repeat());
    SharedText metadata;
    const auto wheel = base::decode_percent(project ? project->wheel : std::string());
    // "files/ab/<sha256>/<filename>"
    if (const auto parts = base::split(wheel ? *wheel : std::string_view(), '/'); parts.size() == 4) {
        request.project.clear();
        request.sha256 = parts[2];
        request.filename.assign(parts[3]).append(".metadata");
        const auto found = co_await ask_upstream(std::move(request), upstream_page_wait_ms);
        if (found && found->kind == UpstreamAnswer::Kind::text) metadata = found->text;
    }
    co_return tree_of(route).pypi_json(project, std::move(metadata), pypi_place(head, route));
}

// `missing`: the answer if no upstream has the project either.
Connection::Task<Reply> Connection::answer_upstream_project(const RequestHead& head, const Route& route,
                                                            UpstreamRequest request, Reply missing) {
    // What this server knows is not held up by an upstream that is slow or gone.
    const auto found = co_await ask_upstream(std::move(request), upstream_page_wait_ms);
    if (!found || found->kind != UpstreamAnswer::Kind::page) co_return missing;
    base::Result<PypiProject> project;
    PoolJob job(shared_.pool, socket_.executor());
    job.start([&] { project = read_pypi_project(found->page->json, {}); });
    if (!co_await job.join()) co_return reply_problem(problem_to_repeat());
    if (!project) co_return missing;
    Reply reply{200};
    show_page(reply,
              render_upstream_project_page(shared_.settings.farm, root_from(head), entry_of(route.index),
                                           *project, found->upstream, base_url(head)));
    co_return reply;
}

Connection::Task<Reply> Connection::answer_from_upstream(const RequestHead& head, const Route& route) {
    const bool is_page = route.kind == RouteKind::project_page || route.kind == RouteKind::pypi_json;
    Reply stored;
    if (!is_page) {  // what was fetched before is in the tree
        stored = answer_route(head, route);
        if (stored.status != 404) {
            if (route.kind == RouteKind::file) shared_.upstream->note_use(route.filename, route.sha256);
            co_return stored;
        }
    }
    if (client_.empty()) client_ = client_address(head);
    const OwnerSlots::Held wait(shared_.upstream_waits_now, client_, max_upstream_waits);
    UpstreamRequest request{route.index, route.project, route.sha256, route.filename, wait.taken()};
    if (route.kind == RouteKind::integrity) {
        request.filename += attestations_suffix;
        request.version = route.version;
    }
    request.client = client_;
    request.via = head.upstream_via;
    if (route.kind == RouteKind::web_page) {
        request.filename.clear();
        co_return co_await answer_upstream_project(head, route, std::move(request), std::move(stored));
    }
    // Ranges and conditions are those of the stored file; HEAD asks whether it can be stored.
    request.may_arrive = head.method == "GET" && head.range.empty() && head.if_none_match.empty() &&
                         head.if_modified_since.empty();
    std::shared_ptr<UpstreamAnswer> found;  // in two statements: GCC 12 destroys twice what a `?:` awaits
    if (is_page)
        found = co_await ask_for_page(request);
    else
        found = co_await ask_upstream(request, upstream_file_wait_ms);
    if (!found) co_return reply_problem(upstream_late());
    switch (found->kind) {
        case UpstreamAnswer::Kind::published:
            break;
        case UpstreamAnswer::Kind::page:
            if (route.kind == RouteKind::pypi_json)
                co_return co_await answer_pypi_json(head, route, std::move(request), found->page);
            if (is_worth_packing(*found->page, route, head)) {
                PoolJob job(shared_.pool, socket_.executor());
                job.start([&] { pack_page(*found->page, route, head); });
                co_await job.join();  // without it the page is sent as it is
            }
            co_return reply_rendered_page(found->page, route, head);
        case UpstreamAnswer::Kind::text:
            co_return reply_metadata(found->text, route, head);
        case UpstreamAnswer::Kind::arriving:
            co_return reply_arriving(found->arriving, route);
        case UpstreamAnswer::Kind::problem:
            break;
    }
    if (found->kind == UpstreamAnswer::Kind::published) co_return answer_route(head, route);
    Reply reply = reply_problem(wait.taken() ? found->problem : upstream_busy());
    if (!found->via.empty()) reply.add(upstream_via_field, found->via);
    co_return reply;
}

}  // namespace wheelyard::http
