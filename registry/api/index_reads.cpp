// What an index has and keeps, and why it shows a project; for operators, and for those who may read it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/base/result.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "lib/store/blobs/disk_room.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/wheel/name.hpp"
#include "registry/api/api.hpp"
#include "registry/api/contains.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"
#include "registry/config/config.hpp"
#include "registry/intake/quota.hpp"
#include "registry/upstream/explain.hpp"
#include "registry/upstream/last_failures.hpp"
#include "registry/upstream/page_store.hpp"

namespace wheelyard::registry {

namespace {

// What an index keeps: files and bytes against its quota, the largest projects, who uploaded most. For
// operators.
//
//     {"format":"wheelyard.storage/1","index":"main","files":3,"bytes":1048576,"quota_files":null,"quota_bytes":null,
//      "quarantined":{"files":1,"bytes":4096},"fetched":{"files":9,"bytes":81920},"free_bytes":73000000000,
//      "growth":[{"day":"2026-11-20","files":2,"bytes":1044480}],
//      "projects":[{"project":"torch","files":2,"bytes":1044480,"newest":"2026-11-20T12:00:00.000000Z"}],
//      "uploaders":[{"name":"ci","files":3,"bytes":1048576}]}
//
// Sums of the wheels' sizes: two indexes with one wheel share its bytes on the disk. Indexes that it shows by
// inheritance are not counted; `fetched` is what its upstreams brought, which no other figure has. `growth`
// are the files that it has by the day they came, of the last 365 days; what was deleted since is in none.

// Projects, and uploaders, in the description of an index's storage.
constexpr std::size_t max_top_returned = 50;
// Days in the description of an index's storage.
constexpr std::int64_t max_growth_days = 365;

constexpr std::size_t day_length = 10;  // of "2026-11-20"

io::Json limit_of(std::uint64_t quota) {
    return quota == no_quota ? io::Json() : io::Json(quota);
}

io::Json list_uploaders(std::vector<catalog::Usage> usage) {
    std::sort(usage.begin(), usage.end(), [](const catalog::Usage& a, const catalog::Usage& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.uploaded_by < b.uploaded_by;
    });
    if (usage.size() > max_top_returned) usage.resize(max_top_returned);
    io::Json uploaders = io::Json::array();
    for (const catalog::Usage& one : usage)
        uploaders.push(
            io::Json::object({{"name", one.uploaded_by}, {"files", one.files}, {"bytes", one.bytes}}));
    return uploaders;
}

// The document. Reads every row of the index; `free_bytes` is what the store's disk has left for uploads.
base::Result<std::string> describe_storage(const RegistryConfig& config, const catalog::Catalog& catalog,
                                           const std::string& index, base::UnixMicros now) {
    WHEELYARD_ASSIGN(const auto usage, catalog.usage(index));
    WHEELYARD_ASSIGN(const auto top, catalog.top_projects(index, max_top_returned));
    WHEELYARD_ASSIGN(const auto quarantined, catalog.quarantine_usage(index));
    WHEELYARD_ASSIGN(const auto days, catalog.usage_by_day(index, now - max_growth_days * base::day_us));
    const catalog::Usage all = usage_of(usage, {});
    const IndexConfig* configured = config.find_index(index);
    const Quota quota = configured == nullptr ? Quota{} : configured->quota;
    std::vector<catalog::Usage> fetched;
    if (configured != nullptr) {
        for (const UpstreamConfig& upstream : configured->upstreams) {
            WHEELYARD_ASSIGN(const auto of_upstream, catalog.usage(upstream.cache_index));
            fetched.push_back(usage_of(of_upstream, {}));
        }
    }
    const catalog::Usage brought = usage_of(fetched, {});
    io::Json projects = io::Json::array();
    for (const catalog::ProjectUsage& one : top)
        projects.push(io::Json::object({{"project", one.project},
                                        {"files", one.files},
                                        {"bytes", one.bytes},
                                        {"newest", base::render_rfc3339(one.newest)}}));
    io::Json growth = io::Json::array();
    for (const catalog::DayUsage& one : days)
        growth.push(
            io::Json::object({{"day", base::render_rfc3339(one.day * base::day_us).substr(0, day_length)},
                              {"files", one.files},
                              {"bytes", one.bytes}}));
    return io::Json::object(
               {{"format", "wheelyard.storage/1"},
                {"index", index},
                {"files", all.files},
                {"bytes", all.bytes},
                {"quota_files", limit_of(quota.files)},
                {"quota_bytes", limit_of(quota.bytes)},
                {"quarantined",
                 io::Json::object({{"files", quarantined.files}, {"bytes", quarantined.bytes}})},
                {"fetched", io::Json::object({{"files", brought.files}, {"bytes", brought.bytes}})},
                {"free_bytes", blobs::free_bytes_of(config.store)},
                {"growth", std::move(growth)},
                {"projects", std::move(projects)},
                {"uploaders", list_uploaders(usage)}})
        .render();
}

// Files in one reply of the list of an index's files.
constexpr std::size_t max_files_returned = 1'000;
constexpr std::size_t max_component_bytes = 200;  // of the name, and of the version, that is looked for

using io::field;

struct OneIndex {
    std::string index;
};
constexpr auto of_index = arguments<OneIndex>({in_path(field<&OneIndex::index>("index", "The index"))});

struct FilesWanted {
    std::string index;
    std::string state;
    std::string after;
    std::string name;
};
constexpr auto of_files = arguments<FilesWanted>({
    in_path(field<&FilesWanted::index>("index", "The index")),
    in_query(field<&FilesWanted::state>("state", "Only active or quarantined ones")),
    in_query(field<&FilesWanted::after>("after", "Only files after this name")),
    in_query(field<&FilesWanted::name>(
        "name",
        "Only files with this in their names; `-`, `_` and `.` are the same, and so are `A` and `a`")),
});

struct ComponentWanted {
    std::string index;
    std::string component;
    std::string version;
    std::string license = "*";
    std::string after;
};
constexpr auto of_component = arguments<ComponentWanted>({
    in_path(field<&ComponentWanted::index>("index", "The index")),
    needed_in_query(field<&ComponentWanted::component>(
        "component", "The component, in any case; * and ? stand for others")),
    in_query(field<&ComponentWanted::version>(
        "version", "Its version; a distribution's epoch and revision do not count (default: every one)")),
    in_query(field<&ComponentWanted::license>(
        "license", "Only under such a licence, in any case; * and ? stand for others: '*GPL*'")),
    in_query(field<&ComponentWanted::after>("after", "Only files after this name")),
});

struct OneProject {
    std::string index;
    std::string project;
};
constexpr auto of_project = arguments<OneProject>({
    in_path(field<&OneProject::index>("index", "The index that a client uses")),
    in_path(field<&OneProject::project>("project", "The project's name, in any spelling")),
});

// A connection of its own: a scan of a large index must not delay commits.
template <typename Read>
Reply read_catalog(const ApiParts& parts, const Call& call, const Read& read) {
    const auto document = parts.store.reader().and_then(
        [&read](const std::unique_ptr<catalog::Catalog>& reader) { return read(*reader); });
    if (document) return reply_with(*document);
    return fail_read(call, document.error());
}

// What pages do not show, too: who uploaded each, whether and why it is in quarantine.
//
//     {"format":"wheelyard.files/1","files":[{"filename":"six-1.16.0-py2.py3-none-any.whl","project":"six","version":"1.16.0",
//      "size_bytes":11053,"sha256":"8abb…","state":"quarantined","state_reason":"…","yanked":false,"yanked_reason":"",
//      "pinned":false,"uploaded":"2026-11-20T12:00:00.000000Z","uploaded_by":"ci"}],"next":null}
//
// `next` is the `after` of the rest; null: there is none.
std::string render_files(const std::vector<catalog::FileRow>& rows) {
    io::Json files = io::Json::array();
    for (const catalog::FileRow& row : rows)
        files.push(io::Json::object({{"filename", row.filename},
                                     {"project", row.project},
                                     {"version", row.version},
                                     {"size_bytes", row.size_bytes},
                                     {"sha256", row.sha256},
                                     {"state", catalog::file_state_text(row.state)},
                                     {"state_reason", row.state_reason},
                                     {"yanked", row.yanked},
                                     {"yanked_reason", row.yanked_reason},
                                     {"pinned", row.pinned},
                                     {"uploaded", base::render_rfc3339(row.upload_time)},
                                     {"uploaded_by", row.uploaded_by}}));
    const bool is_complete = rows.size() < max_files_returned;
    return io::Json::object({{"format", "wheelyard.files/1"},
                             {"files", std::move(files)},
                             {"next", is_complete ? io::Json() : io::Json(rows.back().filename)}})
        .render();
}

Reply list_index_files(const ApiParts& parts, const Call& call, const FilesWanted& wanted) {
    const auto state = catalog::parse_file_state(wanted.state);
    if (!wanted.state.empty() && !state)
        return refuse("files.state", "Unknown file state", wanted.state,
                      "use state=quarantined or state=active, or leave it out");
    return read_catalog(parts, call, [&](const catalog::Catalog& catalog) {
        return catalog
            .files_after(wanted.index, wanted.after, max_files_returned,
                         {.state = state, .name_part = wanted.name})
            .map(render_files);
    });
}

Reply read_storage(const ApiParts& parts, const Call& call, const OneIndex& of) {
    return read_catalog(parts, call, [&](const catalog::Catalog& catalog) {
        return describe_storage(parts.config, catalog, of.index, parts.clock.now());
    });
}

// The newest failure first, one for each project.
io::Json failures_of(const RegistryConfig& config, const std::string& cache_index) {
    io::Json list = io::Json::array();
    const auto failures = read_last_failures(config.store / "upstream", cache_index);
    for (auto one = failures.rbegin(); one != failures.rend(); ++one)
        list.push(io::Json::object({{"time", base::render_rfc3339(one->time)},
                                    {"since", base::render_rfc3339(one->since == 0 ? one->time : one->since)},
                                    {"count", one->count},
                                    {"next_try", base::render_rfc3339(one->next_try)},
                                    {"project", one->project},
                                    {"upstream_wide", one->is_upstream_wide},
                                    {"code", one->code},
                                    {"error", one->sentence},
                                    {"value", one->value}}));
    return list;
}

// How the upstreams have failed, as this server has seen it; it is as secret as the names in the site's
// network.
//
//     {"format":"wheelyard.upstreams/1","index":"main","upstreams":[{"upstream":"main.public","url":"https://…/simple/",
//      "failures":[{"time":…,"since":…,"count":3,"next_try":…,"project":"six","upstream_wide":true,"code":"http.connect",
//                   "error":"the server refuses connections","value":"index.example.org"}]}]}
Reply read_upstreams(const ApiParts& parts, const Call&, const OneIndex& of) {
    io::Json upstreams = io::Json::array();
    if (const IndexConfig* known = parts.config->find_index(of.index); known != nullptr) {
        for (const UpstreamConfig& upstream : known->upstreams) {
            const auto url = base::parse_url(upstream.url);
            upstreams.push(io::Json::object({{"upstream", upstream.cache_index},
                                             {"url", url ? url->text_without_secrets() : url.error().value},
                                             {"failures", failures_of(parts.config, upstream.cache_index)}}));
        }
    }
    return reply_with(io::Json::object(
        {{"format", "wheelyard.upstreams/1"}, {"index", of.index}, {"upstreams", std::move(upstreams)}}));
}

// For readers of the index: of a private one the projects that they may read.
Reply find_component(const ApiParts& parts, const Call& call, const ComponentWanted& wanted) {
    const bool is_open = !parts.config->is_private(wanted.index);
    const bool sees_all = sees_all_files(parts.config, call, wanted.index);
    if (!sees_all && (parts.config->find_index(wanted.index) == nullptr ||
                      !(is_open || (call.caller && allows(*call.caller, wanted.index, {}, read_action)))))
        return unknown_index(parts.config, wanted.index);
    const ComponentQuery query{wanted.component, wanted.version, wanted.license};
    if (query.name.empty() ||
        std::max({query.name.size(), query.version.size(), query.license.size()}) > max_component_bytes)
        return refuse("contains.component", "There is no component to look for", query.name,
                      "use component=zlib, with version=1.2.11 or without");
    return read_catalog(parts, call, [&](const catalog::Catalog& catalog) {
        return find_containing(
            catalog, wanted.index, query, wanted.after, sees_all, [&](const std::string& project) {
                return !call.caller || may_read(parts.config, *call.caller, wanted.index, project);
            });
    });
}

// Every valid token may ask: /readyz of each node says the same to everybody. A connection of its own: the
// lease's is busy.
Reply list_nodes(const ApiParts& parts, const Call& call, const NoArguments&) {
    const auto seen = parts.store.node_board().and_then([](const auto& board) { return board->nodes(); });
    if (!seen) return fail_read(call, seen.error());
    io::Json rows = io::Json::array();
    for (const nodes::SeenNode& node : *seen)
        rows.push(io::Json::object({{"name", node.row.name},
                                    {"is_writer", node.row.is_writer},
                                    {"lease_ms", node.lease_left_ms},
                                    {"serial_visible", node.row.visible}}));
    return reply_with(io::Json::object({{"format", "wheelyard.nodes/1"}, {"nodes", std::move(rows)}}));
}

// Every valid token may ask about public indexes, whose pages show the same projects to everybody.
Reply explain_in_index(const ApiParts& parts, const Call& call, const OneProject& of) {
    const std::string read = wheel::is_valid_name(of.project) ? wheel::normalize_name(of.project) : "";
    if (parts.config->find_index(of.index) == nullptr || !may_read(parts.config, call.who(), of.index, read))
        return unknown_index(parts.config, of.index);
    const ExplainTo reader =
        may_operate(parts.config, call.who(), of.index) ? ExplainTo::administrators : ExplainTo::everyone;
    // A connection of its own: it reads pages of upstreams, which may be large, and commits would wait for
    // that.
    return read_catalog(parts, call, [&](const catalog::Catalog& catalog) {
        PageStore on_disk(parts.config->store / "upstream");
        PageStore& pages = parts.upstream_pages != nullptr ? *parts.upstream_pages : on_disk;
        return explain_project(parts.config, catalog, pages, of.index, of.project, parts.clock.now(), reader)
            .map([](const io::Json& document) { return document.render(); });
    });
}

// The digest of the store's first event: no event changes or goes, and the copies that a restoration makes
// have it, too. Null: nothing was published yet.
base::Result<io::Json> store_id(const database::Store& store) {
    WHEELYARD_ASSIGN(const auto catalog, store.reader());
    WHEELYARD_ASSIGN(const auto events, catalog->events_after(0, 1));
    if (events.empty()) return io::Json();
    const catalog::Event& first = events.front();
    return io::Json(base::sha256_hex(base::join(
        std::vector<std::string>{std::to_string(first.time), first.index, first.project, first.filename},
        "\n")));
}

// What the token of a request may do in an index. An agent asks before it compiles.
Reply show_access(const ApiParts& parts, const Call& call, const OneIndex& of) {
    const Identity& token = call.who();
    io::Json actions = io::Json::array();
    for (const std::string& action : token_actions()) {
        if (allows(token, of.index, {}, action)) actions.push(action);
    }
    io::Json projects = io::Json::array();
    for (const std::string& project : token.projects)
        projects.push(project);
    io::Json access = io::Json::object(
        {{"format", "wheelyard.access/1"},
         {"index", of.index},
         {"token", token.id},
         {"name", token.name},
         {"actions", std::move(actions)},
         {"projects", std::move(projects)},
         {"expires", token.expires == 0 ? io::Json() : io::Json(base::render_rfc3339(token.expires))}});
    if (auto id = store_id(parts.store))
        access.set("store", std::move(*id));
    else
        io::log_error("index.read_failed",
                      {{"request", call.request.request_id}, {"error", id.error().text()}});
    return reply_with(access);
}

// Quarantined files and uploaders are for those who may change the files of all projects.
constexpr Right of_operators{.scope = Scope::every_file,
                             .index = IndexIs::with_files,
                             .to = "listing the files of an index",
                             .advice =
                                 "the action `quarantine`, `yank`, `delete`, `pin` or `promote` for all "
                                 "projects; for a private index with `read`, too"};

constexpr std::array index_read_rows{
    row<of_files, list_index_files>(got("/api/v1/indexes/{index}/files", "listIndexFiles",
                                        "Lists the files of an index in the order of their names "
                                        "(?state=quarantined&after=…)"),
                                    "request.arguments", of_operators),
    row<of_index, read_storage>(got("/api/v1/indexes/{index}/storage", "describeStorage",
                                    "Returns what an index keeps: its size, its quota, its largest projects"),
                                "request.arguments", of_operators),
    row<of_index, read_upstreams>(
        got("/api/v1/indexes/{index}/upstreams", "describeUpstreams",
            "Returns which requests to the upstreams of an index failed last, since when and "
            "how often"),
        "request.arguments", of_operators),
    row<of_component, find_component>(
        open_to_all(got("/api/v1/indexes/{index}/contains", "findContaining",
                        "Lists the wheels of an index that contain a component, as their SBOMs state "
                        "(?component=zlib&version=…&after=…)")),
        "request.arguments",
        {.callers = Callers::everyone, .advice = "`read` for any project: it shows those"}),
    row<of_project, explain_in_index>(
        kept_by_writer(got("/api/v1/indexes/{index}/projects/{project}/explain", "explainProject",
                           "Explains which index or upstream supplies a project, and why")),
        "request.arguments", {.advice = "`read` for the project"}),
    row<of_index, show_access>(got("/api/v1/indexes/{index}/access", "showAccess",
                                   "Returns what the token of the request may do in an index"),
                               "request.arguments", {.index = IndexIs::known, .advice = "any action on it"}),
    row<no_arguments, list_nodes>(
        got("/api/v1/nodes", "listNodes",
            "Lists the running servers of a registry of several: role, lease, what their pages "
            "show"),
        "request.arguments"),
};

}  // namespace

std::span<const OperationRow> index_reads() {
    return index_read_rows;
}

}  // namespace wheelyard::registry
