// What an index has and keeps, and why it shows a project; for operators, and for those who may read it.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
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
#include "lib/store/catalog/file_members.hpp"
#include "lib/wheel/name.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/reading_cookie.hpp"
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

using io::field;

struct Storage {
    std::string index;
    catalog::Usage all = {};
    std::optional<std::uint64_t> quota_files = {};
    std::optional<std::uint64_t> quota_bytes = {};
    catalog::Usage quarantined = {};
    catalog::Usage fetched = {};
    std::uint64_t free_bytes = 0;
    std::vector<catalog::DayUsage> growth = {};
    std::vector<catalog::ProjectUsage> projects = {};
    std::vector<catalog::Usage> uploaders = {};
};
std::string day_text(std::int64_t day) {
    return base::render_rfc3339(day * base::day_us).substr(0, day_length);
}
using catalog::DayUsage;
using catalog::ProjectUsage;
using catalog::Usage;
constexpr auto day_record = io::record<DayUsage>({
    field<io::Made<day_text, io::Plain<std::string>>, &DayUsage::day>("day", "`2026-11-20`, in UTC"),
    field<&DayUsage::files>("files", "files that came on it and are there"),
    field<&DayUsage::bytes>("bytes", "their size"),
});
constexpr auto project_usage_record = io::record<ProjectUsage>({
    field<&ProjectUsage::project>("project", "its normalised name"),
    field<&ProjectUsage::files>("files", "how many"),
    field<&ProjectUsage::bytes>("bytes", "their size"),
    field<io::Moment, &ProjectUsage::newest>("newest", "when the last one came"),
});
constexpr auto uploader_record = io::record<Usage>({
    field<&Usage::uploaded_by>("name", "the name of the token"),
    field<&Usage::files>("files", "how many"),
    field<&Usage::bytes>("bytes", "their size"),
});
constexpr auto storage_record = io::record<Storage>(
    {
        field<&Storage::index>("index", "the index"),
        field<&Storage::all, &Usage::files>("files", "its files"),
        field<&Storage::all, &Usage::bytes>("bytes", "the sum of their sizes"),
        field<&Storage::quota_files>("quota_files", "null: none"),
        field<&Storage::quota_bytes>("quota_bytes", "null: none"),
        field<&Storage::quarantined, &Usage::files>("quarantined.files", "of these in quarantine"),
        field<&Storage::quarantined, &Usage::bytes>("quarantined.bytes", "their size"),
        field<&Storage::fetched, &Usage::files>("fetched.files",
                                                "what its upstreams brought, which no other figure has"),
        field<&Storage::fetched, &Usage::bytes>("fetched.bytes", "their size"),
        field<&Storage::free_bytes>("free_bytes", "what the store's disk has left for uploads"),
        field<io::ListOf<io::Nested<day_record>>, &Storage::growth>("growth",
                                                                    "by the day, of the last 365 days"),
        field<io::ListOf<io::Nested<project_usage_record>>, &Storage::projects>("projects",
                                                                                "the largest, at most 50"),
        field<io::ListOf<io::Nested<uploader_record>>, &Storage::uploaders>("uploaders",
                                                                            "who uploaded most, at most 50"),
    },
    "wheelyard.storage/1");

std::optional<std::uint64_t> limit_of(std::uint64_t quota) {
    return quota == no_quota ? std::nullopt : std::optional(quota);
}

std::vector<Usage> top_uploaders(std::vector<Usage> usage) {
    std::sort(usage.begin(), usage.end(), [](const Usage& a, const Usage& b) {
        return a.bytes != b.bytes ? a.bytes > b.bytes : a.uploaded_by < b.uploaded_by;
    });
    if (usage.size() > max_top_returned) usage.resize(max_top_returned);
    return usage;
}

// Reads every row of the index.
base::Result<std::string> describe_storage(const RegistryConfig& config, const catalog::Catalog& catalog,
                                           const std::string& index, base::UnixMicros now) {
    WHEELYARD_ASSIGN(const auto usage, catalog.usage(index));
    Storage shown{
        .index = index, .all = usage_of(usage, {}), .free_bytes = blobs::free_bytes_of(config.store)};
    WHEELYARD_ASSIGN(shown.projects, catalog.top_projects(index, max_top_returned));
    WHEELYARD_ASSIGN(shown.quarantined, catalog.quarantine_usage(index));
    WHEELYARD_ASSIGN(shown.growth, catalog.usage_by_day(index, now - max_growth_days * base::day_us));
    std::vector<Usage> fetched;
    if (const IndexConfig* configured = config.find_index(index); configured != nullptr) {
        shown.quota_files = limit_of(configured->quota.files);
        shown.quota_bytes = limit_of(configured->quota.bytes);
        for (const UpstreamConfig& upstream : configured->upstreams) {
            WHEELYARD_ASSIGN(const auto of_upstream, catalog.usage(upstream.cache_index));
            fetched.push_back(usage_of(of_upstream, {}));
        }
    }
    shown.fetched = usage_of(fetched, {});
    shown.uploaders = top_uploaders(usage);
    return storage_record.write(shown).render();
}

// Files in one reply of the list of an index's files.
constexpr std::size_t max_files_returned = 1'000;
constexpr std::size_t max_component_bytes = 200;  // of the name, and of the version, that is looked for

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
using File = catalog::FileRow;
template <auto member, typename Codec = io::Plain<catalog::ValueOf<member>>>
constexpr auto row_field(std::string_view name, std::string_view meaning) {
    return io::field_of<File, catalog::InRow<member, Codec>>(name, meaning);
}
constexpr auto listed_file_record = io::record<File>({
    row_field<&File::filename>("filename", "its name"),
    row_field<&File::project>("project", "the project's normalised name"),
    row_field<&File::version>("version", "including the local label"),
    row_field<&File::size_bytes>("size_bytes", "its size"),
    row_field<&File::sha256>("sha256", "its digest"),
    row_field<&File::state, catalog::StateWord>("state", "active or quarantined"),
    row_field<&File::state_reason>("state_reason", "the reason of the state, or empty"),
    row_field<&File::yanked>("yanked", "PEP 592"),
    row_field<&File::yanked_reason>("yanked_reason", "the reason, or empty"),
    row_field<&File::pinned>("pinned", "whether it is protected from deletion"),
    row_field<&File::upload_time, io::Moment>("uploaded", "when"),
    row_field<&File::uploaded_by>("uploaded_by", "the name of the token"),
});
struct ShownFiles {
    std::vector<File> files;
    std::optional<std::string> next = {};
};
constexpr auto files_record = io::record<ShownFiles>(
    {
        field<io::ListOf<io::Nested<listed_file_record>>, &ShownFiles::files>("files",
                                                                              "in the order of their names"),
        field<&ShownFiles::next>("next", "the `after` of the rest; null: there is none"),
    },
    "wheelyard.files/1");

std::string render_files(std::vector<File> rows) {
    ShownFiles shown{std::move(rows)};
    if (shown.files.size() >= max_files_returned) shown.next = shown.files.back().filename;
    return files_record.write(shown).render();
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

std::string since_when(const UpstreamFailure& failure) {
    return base::render_rfc3339(failure.since == 0 ? failure.time : failure.since);
}
constexpr auto upstream_failure_record = io::record<UpstreamFailure>({
    field<io::Moment, &UpstreamFailure::time>("time", "the last one"),
    io::field_of<UpstreamFailure, io::Made<since_when, io::Moment>>("since",
                                                                    "the first one without a day in between"),
    field<&UpstreamFailure::count>("count", "since then"),
    field<io::Moment, &UpstreamFailure::next_try>("next_try", "not before"),
    field<&UpstreamFailure::project>("project", "what was asked for"),
    field<&UpstreamFailure::is_upstream_wide>("upstream_wide", "whether it holds for all projects"),
    field<&UpstreamFailure::code>("code", "the error's code"),
    field<&UpstreamFailure::sentence>("error", "for people"),
    field<&UpstreamFailure::value>("value", "the offending value, or empty"),
});
struct ShownUpstream {
    std::string upstream;
    std::string url;
    std::vector<UpstreamFailure> failures;
};
constexpr auto upstream_record = io::record<ShownUpstream>({
    field<&ShownUpstream::upstream>("upstream", "INDEX.NAME"),
    field<&ShownUpstream::url>("url", "without secrets"),
    field<io::ListOf<io::Nested<upstream_failure_record>>, &ShownUpstream::failures>(
        "failures", "the newest first, one for each project"),
});
struct ShownUpstreams {
    std::string index;
    std::vector<ShownUpstream> upstreams = {};
};
constexpr auto upstreams_record = io::record<ShownUpstreams>(
    {
        field<&ShownUpstreams::index>("index", "the index"),
        field<io::ListOf<io::Nested<upstream_record>>, &ShownUpstreams::upstreams>("upstreams",
                                                                                   "in its order"),
    },
    "wheelyard.upstreams/1");

// How the upstreams have failed, as this server has seen it; it is as secret as the names in the site's
// network.
//
//     {"format":"wheelyard.upstreams/1","index":"main","upstreams":[{"upstream":"main.public","url":"https://…/simple/",
//      "failures":[{"time":…,"since":…,"count":3,"next_try":…,"project":"six","upstream_wide":true,"code":"http.connect",
//                   "error":"the server refuses connections","value":"index.example.org"}]}]}
Reply read_upstreams(const ApiParts& parts, const Call&, const OneIndex& of) {
    ShownUpstreams shown{.index = of.index};
    if (const IndexConfig* known = parts.config->find_index(of.index); known != nullptr) {
        for (const UpstreamConfig& upstream : known->upstreams) {
            const auto url = base::parse_url(upstream.url);
            auto failures = read_last_failures(parts.config->store / "upstream", upstream.cache_index);
            std::reverse(failures.begin(), failures.end());
            shown.upstreams.push_back({upstream.cache_index,
                                       url ? url->text_without_secrets() : url.error().value,
                                       {failures.begin(), failures.end()}});
        }
    }
    return reply_with(upstreams_record.write(shown));
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

using nodes::SeenNode;
constexpr auto seen_node_record = io::record<SeenNode>({
    field<&SeenNode::row, &nodes::NodeRow::name>("name", "for people"),
    field<&SeenNode::row, &nodes::NodeRow::is_writer>("is_writer", "whether it accepts changes"),
    field<&SeenNode::lease_left_ms>("lease_ms", "for how long it may still serve pages"),
    field<&SeenNode::row, &nodes::NodeRow::visible>("serial_visible",
                                                    "its pages show every event up to this one"),
});
constexpr auto nodes_record = io::record_of<std::vector<SeenNode>, io::ListOf<io::Nested<seen_node_record>>>(
    "nodes", "the servers that run", "wheelyard.nodes/1");

// Every valid token may ask: /readyz of each node says the same to everybody. A connection of its own: the
// lease's is busy.
Reply list_nodes(const ApiParts& parts, const Call& call, const NoArguments&) {
    const auto seen = parts.store.node_board().and_then([](const auto& board) { return board->nodes(); });
    if (!seen) return fail_read(call, seen.error());
    return reply_with(nodes_record.write(*seen));
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
// have it, too. Empty: nothing was published yet.
base::Result<std::string> store_id(const database::Store& store) {
    WHEELYARD_ASSIGN(const auto catalog, store.reader());
    WHEELYARD_ASSIGN(const auto events, catalog->events_after(0, 1));
    if (events.empty()) return std::string();
    const catalog::Event& first = events.front();
    return base::sha256_hex(base::join(
        std::vector<std::string>{std::to_string(first.time), first.index, first.project, first.filename},
        "\n"));
}

struct ShownAccess {
    std::string index;
    std::string token;
    std::string name;
    std::vector<std::string> actions = {};
    std::vector<std::string> projects = {};
    base::UnixMicros expires = 0;
    std::optional<std::string> store = {};
};
constexpr auto access_record = io::record<ShownAccess>(
    {
        field<&ShownAccess::index>("index", "the index"),
        field<&ShownAccess::token>("token", "the token's ID"),
        field<&ShownAccess::name>("name", "its name"),
        field<&ShownAccess::actions>("actions", "what it may do there"),
        field<&ShownAccess::projects>("projects", "with which projects; `*`: all"),
        field<io::Time, &ShownAccess::expires>("expires", "null: never"),
        field<&ShownAccess::store>(
            "store", "tells stores apart; empty: nothing was published yet; left out: it cannot be read",
            io::Need::optional, io::Written::unless_null),
    },
    "wheelyard.access/1");

// What the token of a request may do in an index. An agent asks before it compiles.
Reply show_access(const ApiParts& parts, const Call& call, const OneIndex& of) {
    const Identity& token = call.who();
    ShownAccess shown{.index = of.index,
                      .token = token.id,
                      .name = token.name,
                      .projects = token.projects,
                      .expires = token.expires};
    for (const std::string& action : token_actions()) {
        if (allows(token, of.index, {}, action)) shown.actions.push_back(action);
    }
    if (auto id = store_id(parts.store))
        shown.store = *std::move(id);
    else
        io::log_error("index.read_failed",
                      {{"request", call.request.request_id}, {"error", id.error().text()}});
    return reply_with(access_record.write(shown));
}

struct ReadableIndex {
    std::string name;
    std::string title;
    bool is_listed = false;
};
constexpr auto readable_record = io::record<ReadableIndex>({
    field<&ReadableIndex::name>("name", "the index"),
    field<&ReadableIndex::title>("title", "for people; may be empty"),
    field<&ReadableIndex::is_listed>(
        "listed", "false: archived, staging of another index, or without pages; the front page has none"),
});
struct ReadableIndexes {
    std::vector<ReadableIndex> indexes = {};
};
constexpr auto readable_list_record =
    io::record<ReadableIndexes>({field<io::ListOf<io::Nested<readable_record>>, &ReadableIndexes::indexes>(
                                    "indexes", "those that the token reads, wholly or in part; at most 16")},
                                "wheelyard.private_indexes/1");
struct PagesClosed {
    std::string indexes;
};
constexpr auto of_pages_closed = arguments<PagesClosed>(
    {in_query(field<&PagesClosed::indexes>("indexes", "names, at most 16, with commas between them"))});

// Any node answers, also one that only reads: the cookies are made of the token, and nothing is kept.
Reply list_private(const ApiParts& parts, const Call& call, const NoArguments&) {
    ReadableIndexes shown;
    http::ApiReply reply;
    const ConfigView config = parts.config.held();
    for (const std::string& name : readable_private(config, call.who())) {
        const IndexConfig& index = *config->find_index(name);
        shown.indexes.push_back({name, index.title, is_advertised(*config, index) && index.has_pages});
    }
    std::stable_partition(shown.indexes.begin(), shown.indexes.end(),
                          [](const ReadableIndex& index) { return index.is_listed; });
    if (shown.indexes.size() > max_reading_cookies) shown.indexes.resize(max_reading_cookies);
    for (const ReadableIndex& index : shown.indexes)
        reply.cookies.emplace_back(index.name,
                                   make_reading_cookie(call.who(), index.name, parts.clock.now()));
    reply.json = readable_list_record.write(shown).render();
    return reply;
}

// Needs no token, which may have ended or be in another tab, and says nothing of the names.
Reply close_private(const ApiParts&, const Call&, const PagesClosed& closed) {
    http::ApiReply reply;
    for (const std::string_view name : base::split(closed.indexes, ',')) {
        if (!name.empty() && reply.cookies.size() < max_reading_cookies) reply.cookies.emplace_back(name, "");
    }
    reply.json = readable_list_record.write(ReadableIndexes{}).render();
    return reply;
}

// Quarantined files and uploaders are for those who may change the files of all projects.
constexpr Right of_operators{.scope = Scope::every_file,
                             .index = IndexIs::with_files,
                             .to = "listing the files of an index",
                             .advice =
                                 "the action `quarantine`, `yank`, `delete`, `pin` or `promote` for all "
                                 "projects; for a private index with `read`, too"};

constexpr std::array index_read_rows{
    row<of_files, list_index_files>(
        got("/api/v1/indexes/{index}/files", "listIndexFiles", io::document_of<files_record>,
            "Lists the files of an index in the order of their names "
            "(?state=quarantined&after=…)"),
        "request.arguments", of_operators),
    row<of_index, read_storage>(
        got("/api/v1/indexes/{index}/storage", "describeStorage", io::document_of<storage_record>,
            "Returns what an index keeps: its size, its quota, its largest projects"),
        "request.arguments", of_operators),
    row<of_index, read_upstreams>(
        got("/api/v1/indexes/{index}/upstreams", "describeUpstreams", io::document_of<upstreams_record>,
            "Returns which requests to the upstreams of an index failed last, since when and "
            "how often"),
        "request.arguments", of_operators),
    row<of_component, find_component>(
        open_to_all(got("/api/v1/indexes/{index}/contains", "findContaining", contains_document,
                        "Lists the wheels of an index that contain a component, as their SBOMs state "
                        "(?component=zlib&version=…&after=…)")),
        "request.arguments",
        {.callers = Callers::everyone, .advice = "`read` for any project: it shows those"}),
    row<of_project, explain_in_index>(
        kept_by_writer(got("/api/v1/indexes/{index}/projects/{project}/explain", "explainProject",
                           explanation_document,
                           "Explains which index or upstream supplies a project, and why")),
        "request.arguments", {.advice = "`read` for the project"}),
    row<of_index, show_access>(
        got("/api/v1/indexes/{index}/access", "showAccess", io::document_of<access_record>,
            "Returns what the token of the request may do in an index"),
        "request.arguments", {.index = IndexIs::with_files, .advice = "any action on it"}),
    row<no_arguments, list_private>(
        got("/api/v1/private-indexes", "listPrivateIndexes", io::document_of<readable_list_record>,
            "Lists the private indexes that the token reads, and sets a cookie for each, with which "
            "a browser reads its pages"),
        "request.arguments"),
    row<of_pages_closed, close_private>(
        open_to_all(got("/api/v1/private-indexes/end", "closePrivateIndexes",
                        io::document_of<readable_list_record>,
                        "Removes a browser's cookies for the indexes that it names")),
        "request.arguments", {.callers = Callers::nobody}),
    row<no_arguments, list_nodes>(
        got("/api/v1/nodes", "listNodes", io::document_of<nodes_record>,
            "Lists the running servers of a registry of several: role, lease, what their pages "
            "show"),
        "request.arguments"),
};

}  // namespace

std::span<const OperationRow> index_reads() {
    return index_read_rows;
}

}  // namespace wheelyard::registry
