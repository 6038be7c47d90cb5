#include "registry/api/api.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/abi/torch_fit.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "lib/wheel/filename.hpp"
#include "lib/wheel/name.hpp"
#include "registry/access/person.hpp"
#include "registry/api/access_api.hpp"
#include "registry/api/agent_api.hpp"
#include "registry/api/build_api.hpp"
#include "registry/api/contains.hpp"
#include "registry/api/derived_sbom.hpp"
#include "registry/api/file_list.hpp"
#include "registry/api/limits.hpp"
#include "registry/api/login_api.hpp"
#include "registry/api/provenance.hpp"
#include "registry/api/publish_api.hpp"
#include "registry/api/query.hpp"
#include "registry/api/readers.hpp"
#include "registry/api/request_api.hpp"
#include "registry/api/site_api.hpp"
#include "registry/api/storage.hpp"
#include "registry/api/task_api.hpp"
#include "registry/api/token_api.hpp"
#include "registry/api/upstream_list.hpp"
#include "registry/catalog/file_row.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/http/ranges.hpp"
#include "registry/intake/attestations.hpp"
#include "registry/intake/refusal.hpp"
#include "registry/intake/torch_tables.hpp"
#include "registry/intake/uploads.hpp"
#include "registry/upstream/explain.hpp"
#include "registry/upstream/source.hpp"

namespace wheelyard::registry {
namespace {

using lifecycle::Action;
using lifecycle::Subject;
using lifecycle::Verb;

bool is_for_all(const std::vector<std::string>& scope) {
    return std::find(scope.begin(), scope.end(), "*") != scope.end();
}

// The pages to wait for. A retention run may touch many projects, as does the promotion of a set, so they wait for all
// pages of the index, including those of an earlier, repeated request.
PageOf pages_of(const Action& action) {
    if (!action.with.empty()) return {action.to_index, {}, {}};
    PageOf page{action.verb == Verb::promote ? action.to_index : action.index, action.project,
                action.filename};
    if (page.project.empty()) page.project = project_of_filename(action.filename);
    return page;
}

struct AuditQuery {
    catalog::EventFilter filter;
    catalog::EventRange range;
};

// `after`, `before`: serials; `newest`: a number of events; the rest is the filter.
wire::Answered<AuditQuery> audit_query(std::string_view query) {
    AuditQuery asked;
    const auto value = [&](std::string_view name) { return query_value(query, name).value_or(""); };
    const auto serial = [&](std::string_view name, catalog::Serial& into) {
        if (value(name).empty()) return true;
        const auto number = base::parse_decimal(value(name));
        const bool is_good = number && *number <= static_cast<std::uint64_t>(INT64_MAX);
        if (is_good) into = static_cast<catalog::Serial>(*number);
        return is_good;
    };
    if (!serial("after", asked.range.after))
        return refuse("lifecycle.after", "`after` must be a decimal serial number", value("after"),
                      "after=0 starts at the first event");
    const std::string count = value("newest");
    const auto newest = base::parse_decimal(count.empty() ? "0" : count);
    if (!newest || *newest > max_events_returned)
        return refuse("lifecycle.newest", "`newest` must be a number of events, at most 1000", count,
                      "newest=50 shows the last 50 events");
    asked.range.is_newest = *newest > 0 || !value("before").empty();
    asked.range.limit = *newest > 0 ? static_cast<std::size_t>(*newest) : max_events_returned;
    if (!serial("before", asked.range.before))
        return refuse("audit.query", "`before` must be a decimal serial number", value("before"),
                      "give the `next` of the last reply");
    using F = catalog::EventFilter;
    static constexpr std::pair<std::string_view, std::string F::*> parts[] = {
        {"who", &F::who},     {"action", &F::kind},     {"what", &F::what},
        {"index", &F::index}, {"project", &F::project}, {"filename", &F::filename}};
    for (const auto& [name, member] : parts) {
        asked.filter.*member = value(name);
        if ((asked.filter.*member).size() > max_filter_bytes)
            return refuse("audit.query", "A part of the filter is over 200 bytes", std::string(name),
                          "search for a shorter part of it");
    }
    asked.filter.kind = base::replace_all(asked.filter.kind, " ", "_");
    if (!asked.filter.project.empty()) asked.filter.project = wheel::normalize_name(asked.filter.project);
    if (const base::Status read = catalog::read_times(value("from"), value("until"), asked.filter); !read)
        return refuse("audit.query", read.error().sentence, read.error().value, read.error().advice);
    return asked;
}

bool is_open_to_strangers(std::string_view operation) {
    const auto all = http::operations();
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const http::Operation& one) { return one.id == operation; });
    return found != all.end() && !found->needs_token;
}

}  // namespace

wire::Problem problem_of_change(const base::Error& error) {
    if (auto known = problem_of_request(error)) return *std::move(known);
    wire::Problem problem = problem_of_failure(error);
    problem.code = base::replace_all(problem.code, "upload.", "lifecycle.");
    problem.title = problem.status == 500 ? "The registry could not make this change" : problem.title;
    problem.detail = "Internal error; see the server log for this request ID.";
    problem.advice = problem.status == 503 ? "send the request again in a moment"
                                           : "report the request ID to the administrator";
    return problem;
}

wire::Problem problem_of_read(const http::ApiRequest& request, const base::Error& error) {
    if (auto known = problem_of_request(error)) return *std::move(known);
    io::log_error("api.read_failed", {{"request", request.request_id},
                                      {"operation", std::string(request.operation)},
                                      {"error", error.text()}});
    return problem_of_change(error);
}

wire::Answered<http::Admission> Api::admit(const http::ApiRequest& head) {
    // Programs send what ~/.netrc has, and who logs in again has a token that ended.
    if (LoginApi::handles(head.operation) || PublishApi::handles(head.operation) ||
        AgentApi::handles(head.operation))
        return http::Admission{};
    if (head.authorization.empty() && is_open_to_strangers(head.operation)) return http::Admission{};
    const auto token = parts_.tokens.verify(head.authorization);
    if (!token) return tl::unexpected(token.error());
    const auto verbs = lifecycle::verbs();
    const auto has_action = [&token](std::string_view action) {
        return std::find(token->actions.begin(), token->actions.end(), action) != token->actions.end();
    };
    const bool may_administer =
        has_action(token_action) || has_action(index_action) ||
        std::any_of(verbs.begin(), verbs.end(),
                    [&has_action](const lifecycle::VerbRow& row) { return has_action(row.scope); });
    return http::Admission{.may_administer = may_administer, .owner = token->name};
}

wire::Answered<http::ApiReply> Api::answer(const http::ApiRequest& request) {
    ApiParts of_request = parts_;
    of_request.config = *parts_.config;  // one snapshot for the whole request
    return Api(of_request).answer_now(request);
}

wire::Answered<http::ApiReply> Api::answer_now(const http::ApiRequest& request) {
    if (request.operation == "readAudit") return read_audit(request);
    if (request.operation == "listPeople") return list_people(request);
    if (request.operation == "explainProject") return explain(request);
    if (request.operation == access_operation)
        return show_access(parts_.config, parts_.store, parts_.tokens, request);
    if (request.operation == "readProvenance") return provenance(request);
    if (request.operation == "readSbom") return sbom(request);
    if (request.operation == "judgeWithTorch") return judge_with_torch(request);
    if (request.operation == "findContaining") return contains(request);
    if (request.operation == "listIndexFiles") return list_index_files(request);
    if (request.operation == "describeStorage") return storage(request);
    if (request.operation == "describeUpstreams") return upstreams(request);
    if (request.operation == "listNodes") return list_nodes(request);
    if (parts_.tasks != nullptr && TaskApi::handles(request.operation))
        return TaskApi({parts_.config, parts_.tokens, *parts_.tasks, parts_.writer, parts_.sites})
            .answer(request);
    if (TokenApi::handles(request.operation))
        return TokenApi({parts_.config, parts_.tokens, parts_.writer, parts_.clock}).answer(request);
    if (AgentApi::handles(request.operation))
        return AgentApi(parts_.tokens, parts_.writer, parts_.clock).answer(request);
    if (parts_.logins != nullptr && LoginApi::handles(request.operation))
        return LoginApi({parts_.config, *parts_.logins, parts_.writer, parts_.clock}).answer(request);
    if (parts_.logins != nullptr && PublishApi::handles(request.operation))
        return PublishApi({parts_.config, parts_.tokens, *parts_.logins, parts_.writer, parts_.clock})
            .answer(request);
    if (parts_.sites != nullptr && SiteApi::handles(request.operation))
        return SiteApi({parts_.config, parts_.tokens, *parts_.sites, parts_.clock}).answer(request);
    if (parts_.tasks != nullptr && RequestApi::handles(request.operation))
        return RequestApi({parts_.config, parts_.tokens, *parts_.tasks, parts_.builds, parts_.sites})
            .answer(request);
    if (parts_.builds != nullptr && BuildApi::handles(request.operation))
        return BuildApi({parts_.config, parts_.tokens, *parts_.builds}).answer(request);
    if (parts_.indexes != nullptr && IndexApi::handles(request.operation))
        return IndexApi({parts_.config, parts_.tokens, *parts_.indexes, parts_.pages}).answer(request);
    const lifecycle::VerbRow* row = lifecycle::find_operation(request.operation);
    if (row == nullptr)
        return refuse("request.operation", "The server does not know this operation",
                      std::string(request.operation), "upgrade the server");
    return change(request, *row);
}

wire::Answered<void> Api::check_scope(const Action& action, const catalog::TokenRow& token) {
    const lifecycle::VerbRow& row = lifecycle::row_of(action.verb);
    const std::string scope(row.scope);
    bool allowed = false;
    if (row.subject == Subject::registry) {
        allowed = is_for_all(token.indexes) && allows(token, "*", {}, scope);
    } else {
        const std::string project = row.subject == Subject::file ? project_of_filename(action.filename)
                                                                 : wheel::normalize_name(action.project);
        allowed =
            allows(token, action.index, project, scope) && (!project.empty() || is_for_all(token.projects));
        for (const std::string& filename : lifecycle::filenames_of(action)) {
            if (action.verb != Verb::promote) break;
            const std::string its_project = project_of_filename(filename);
            allowed = allowed && (!its_project.empty() || is_for_all(token.projects)) &&
                      allows(token, action.index, its_project, scope) &&
                      allows(token, action.to_index, its_project, scope);
        }
    }
    if (allowed) return {};
    return refuse(
        "auth.scope_refused", "This token does not permit this action (" + std::string(row.word) + ")",
        token.id,
        "ask an administrator for a token with the action `" + scope + "` for this index and project");
}

// The token that uploaded a file cannot promote it: promotion is a second opinion.
wire::Answered<void> Api::check_promotion(const Action& action, const catalog::TokenRow& token) {
    if (parts_.config->find_index(action.to_index) == nullptr ||
        !may_know(parts_.config, token, action.to_index))
        return refuse("index.unknown", "There is no index with this name", action.to_index,
                      "GET / lists the indexes");
    const IndexConfig& target = *parts_.config->find_index(action.to_index);
    if (const auto open = check_not_archived(target); !open)
        return tl::unexpected(problem_of_change(open.error()));
    for (const std::string& filename : lifecycle::filenames_of(action)) {
        if (const auto taken = check_takes(target, filename); !taken)
            return tl::unexpected(problem_of_change(taken.error()));
        const auto row = parts_.writer.find_file(action.index, filename);
        if (!row) return tl::unexpected(problem_of_change(row.error()));
        if (*row && is_same_actor((*row)->uploaded_by, token.name))
            return refuse("lifecycle.own_file", "The uploader of a file cannot promote it", token.name,
                          "promote it with another token");
    }
    return {};
}

void Api::wait_for_pages(http::ApiReply& reply, const Action& action, const lifecycle::Done& done) const {
    if (done.serial == 0) return;  // nothing changed
    PageOf page = pages_of(action);
    reply.if_not_visible = wire::make_problem(
        "lifecycle.page_lags", "The change is committed, but its page is not published yet",
        "The change is committed, but its page is not published yet.", page.filename,
        "send the same request again: it returns 200 once the page is published");
    reply.when_visible = [&pages = parts_.pages, serial = done.serial,
                          page = std::move(page)](std::function<void(bool)> then) {
        pages.call_when_visible(
            serial, page, [then = std::move(then)](const base::Status& status) { then(status.has_value()); });
    };
}

wire::Answered<http::ApiReply> Api::change(const http::ApiRequest& request, const lifecycle::VerbRow& row) {
    auto token = parts_.tokens.verify(request.authorization);
    if (!token) return tl::unexpected(std::move(token.error()));
    Action action;
    action.verb = row.verb;
    action.index = parameter(request, "index");
    action.filename = parameter(request, "filename");
    action.project = parameter(request, "project");
    const auto fail = [&](const base::Error& error) {
        wire::Problem problem = problem_of_change(error);
        io::log_warn("lifecycle.refused", {{"request", request.request_id},
                                           {"action", std::string(row.word)},
                                           {"token", token->id},
                                           {"status", std::to_string(problem.status)},
                                           {"error", error.text()}});
        return tl::unexpected(std::move(problem));
    };
    const bool is_known =
        has_files_of(parts_.config, action.index) && may_know(parts_.config, *token, action.index);
    if (row.subject != Subject::registry && !is_known)
        return refuse("index.unknown", "There is no index with this name", action.index,
                      "GET / lists the indexes");
    if (const auto read = lifecycle::read_body(request.body, action); !read) return fail(read.error());
    if (!action.project.empty()) action.project = wheel::normalize_name(action.project);
    if (const auto sensible = lifecycle::check(action); !sensible) return fail(sensible.error());
    if (auto allowed = check_scope(action, *token); !allowed)
        return tl::unexpected(std::move(allowed.error()));
    if (action.verb == Verb::promote) {
        if (auto allowed = check_promotion(action, *token); !allowed)
            return tl::unexpected(std::move(allowed.error()));
    }
    const lifecycle::Place place{
        .on_catalog = [this](const lifecycle::CatalogWork& work) { return parts_.writer.run(work); },
        .blobs = parts_.blobs,
        .clock = parts_.clock,
        .admits =
            [&](const std::string& index, const catalog::FileRow& row,
                const std::vector<catalog::FileRow>& with) {
                base::Status taken = check_origin(parts_.config, index, row);
                if (!taken) return taken;
                return check_with_torches(parts_.config, index, row, offered_files(parts_.writer, index),
                                          with, {parts_.blobs, parts_.config->store});
            }};
    const auto done = blobs::with_reserve(parts_.config->room(),
                                          [&] { return lifecycle::perform(place, action, token->name); });
    if (!done) return fail(done.error());
    io::log_info("lifecycle.done", {{"request", request.request_id},
                                    {"action", std::string(row.word)},
                                    {"token", token->id},
                                    {"index", action.index},
                                    {"filename", base::join(lifecycle::filenames_of(action), " ")},
                                    {"project", action.project},
                                    {"serial", std::to_string(done->serial)},
                                    {"changed", done->changed ? "yes" : "no"}});
    http::ApiReply reply{.status = 200, .json = lifecycle::render_done(row.verb, *done)};
    wait_for_pages(reply, action, *done);
    return reply;
}

// Who may read the audit log may also learn the names of the people in it.
wire::Answered<void> Api::check_auditor(const http::ApiRequest& request) {
    const auto token = parts_.tokens.verify(request.authorization);
    if (!token) return tl::unexpected(token.error());
    if (allows(*token, "*", {}, audit_action) && is_for_all(token->indexes)) return {};
    return refuse("auth.scope_refused", "This token does not permit reading the audit log", token->id,
                  "ask an administrator for a token with the action `audit` for all indexes");
}

wire::Answered<http::ApiReply> Api::list_people(const http::ApiRequest& request) {
    if (auto may = check_auditor(request); !may) return tl::unexpected(std::move(may.error()));
    io::Json names = io::Json::object();
    for (const auto& [name, shown] : parts_.tokens.shown_names())
        names.set(name, shown);
    return http::ApiReply{
        .json = io::Json::object({{"format", "wheelyard.people/1"}, {"names", std::move(names)}}).render()};
}

wire::Answered<http::ApiReply> Api::read_audit(const http::ApiRequest& request) {
    if (auto may = check_auditor(request); !may) return tl::unexpected(std::move(may.error()));
    const auto asked = audit_query(request.query);
    if (!asked) return tl::unexpected(asked.error());
    std::vector<catalog::Event> events;
    io::Json next;
    // A connection of its own: a filter looks at many events, and commits must not wait for that.
    const auto read =
        parts_.store.reader().and_then([&](const std::unique_ptr<catalog::Catalog>& reader) -> base::Status {
            catalog::EventRange range = asked->range;
            WHEELYARD_ASSIGN(const catalog::Serial last, reader->last_serial());
            range.before = std::min(range.before, last + 1);
            if (range.is_newest)
                range.after = std::max(range.after, range.before - 1 - max_events_read);
            else
                range.before = std::min(range.before, range.after + 1 + max_events_read);
            WHEELYARD_ASSIGN(events, reader->find_events(asked->filter, range));
            const bool is_full = events.size() == range.limit;
            if (range.is_newest) {
                const catalog::Serial first = is_full ? events.front().serial : range.after + 1;
                if (first > asked->range.after + 1) next = first;
            } else {
                const catalog::Serial seen = is_full ? events.back().serial : range.before - 1;
                if (seen < std::min(asked->range.before - 1, last)) next = seen;
            }
            return {};
        });
    if (!read) return tl::unexpected(problem_of_read(request, read.error()));
    io::Json rows = io::Json::array();
    const auto names = parts_.tokens.shown_names();
    for (const catalog::Event& event : events) {
        io::Json row = catalog::event_to_json(event);
        if (const auto name = names.find(event.actor); name != names.end())
            row.set("actor_name", name->second);
        rows.push(std::move(row));
    }
    return http::ApiReply{
        .status = 200,
        .json = io::Json::object(
                    {{"format", "wheelyard.audit/1"}, {"events", std::move(rows)}, {"next", std::move(next)}})
                    .render()};
}

// Quarantined files, which no page lists, have provenance, too: thus the scope of the token counts.
wire::Answered<http::ApiReply> Api::provenance(const http::ApiRequest& request) {
    const auto token = parts_.tokens.verify(request.authorization);
    if (!token) return tl::unexpected(token.error());
    const std::string index = parameter(request, "index");
    const std::string filename = parameter(request, "filename");
    const std::string project = project_of_filename(filename);
    const bool has_scope = !project.empty() && std::any_of(token->actions.begin(), token->actions.end(),
                                                           [&](const std::string& action) {
                                                               return allows(*token, index, project, action);
                                                           });
    if (!has_scope || !may_read(parts_.config, *token, index, project))
        return refuse("auth.scope_refused", "This token is for other indexes or projects", token->id,
                      "ask an administrator for a token for this index and project");
    if (!has_files_of(parts_.config, index))  // it may have been private
        return refuse("index.unknown", "There is no index with this name", index, "GET / lists the indexes");
    const auto document =
        find_file(parts_.writer, {index, filename}).and_then([&](const catalog::FileRow& row) {
            return read_provenance(row, parts_.blobs);
        });
    if (document) return http::ApiReply{.status = 200, .json = *document};
    return tl::unexpected(problem_of_read(request, document.error()));
}

// A file that a page lists. Error "file.unknown".
base::Result<catalog::FileRow> Api::listed_file(const catalog::FileName& name) {
    WHEELYARD_ASSIGN(const auto reader, parts_.store.reader());
    WHEELYARD_ASSIGN(const auto row, reader->file(name.index, name.filename));
    if (row && row->state == catalog::FileState::active) {
        WHEELYARD_ASSIGN(const auto project, reader->project(row->index, row->project));
        if (!project || project->status != catalog::ProjectStatus::quarantined) return *row;
    }
    return wire::fail("file.unknown", "The index has no such file", name.filename,
                      "GET /" + name.index + "/simple/ lists its projects");
}

// For readers of the wheel: nothing of a file that no page lists.
wire::Answered<http::ApiReply> Api::sbom(const http::ApiRequest& request) {
    const auto caller = caller_of(parts_.tokens, request.authorization);
    if (!caller) return tl::unexpected(caller.error());
    const std::string filename = parameter(request, "filename");
    const auto index =
        index_to_read(parts_.config, *caller, parameter(request, "index"), project_of_filename(filename));
    if (!index) return tl::unexpected(index.error());
    std::string tag;
    const auto document = listed_file({(*index)->name, filename})
                              .and_then([&](const catalog::FileRow& row) -> base::Result<std::string> {
                                  // The row has all that the document is made of, or its hash.
                                  tag = base::sha256_hex(WHEELYARD_VERSION + catalog::render_file_row(row));
                                  if (http::names_etag(request.if_none_match, "\"" + tag + "\""))
                                      return std::string();
                                  return render_sbom(row, parts_.blobs);
                              });
    if (!document) return tl::unexpected(problem_of_read(request, document.error()));
    return http::ApiReply{.status = 200, .json = *document, .tag = std::move(tag)};
}

// For readers of both wheels.
wire::Answered<http::ApiReply> Api::judge_with_torch(const http::ApiRequest& request) {
    const auto caller = caller_of(parts_.tokens, request.authorization);
    if (!caller) return tl::unexpected(caller.error());
    const std::string filename = parameter(request, "filename");
    const std::string torch = query_value(request.query, "torch").value_or("");
    const auto name = wheel::parse_wheel_filename(filename), torch_name = wheel::parse_wheel_filename(torch);
    if (!name || !torch_name || torch_name->project != "torch")
        return refuse("torch_fit.names",
                      "`torch` must be the file name of a wheel of torch, and the file a wheel", torch,
                      "GET …/files/FILENAME/with-torch?torch=torch-2.6.0-cp312-cp312-linux_x86_64.whl");
    std::optional<catalog::FileRow> companion_row, torch_row;
    for (const auto& [file, row] : {std::pair{&*name, &companion_row}, std::pair{&*torch_name, &torch_row}}) {
        const auto index = index_to_read(parts_.config, *caller, parameter(request, "index"), file->project);
        if (!index) return tl::unexpected(index.error());
        auto listed = listed_file({(*index)->name, file->text()});
        if (!listed) return tl::unexpected(problem_of_read(request, listed.error()));
        *row = *std::move(listed);
    }
    inspect::TorchFit fit;
    fit.sentence = "nothing is known of the names of torch that it uses";
    // Strangers ask, too: a wheel is read for them only if it uses torch, and none while another one is read.
    const auto facts = io::parse_json(companion_row->facts_json);
    if (facts && !facts->string_or("torch_stable_abi", {}).empty()) {
        const TorchTables tables(parts_.blobs, parts_.config->store, IfBusy::fail);
        const auto judged = tables.uses_of(*name, companion_row->sha256).and_then([&](const auto& companion) {
            return tables.of(*torch_name, torch_row->sha256).map([&](const inspect::TorchExports& exports) {
                return inspect::fits(companion, exports);
            });
        });
        const bool is_unknown = !judged && (judged.error().recovery == base::Recovery::retry ||
                                            judged.error().kind == base::ErrorKind::malformed);
        if (!judged && !is_unknown) return tl::unexpected(problem_of_read(request, judged.error()));
        if (judged) fit = *judged;
        if (is_unknown) fit.sentence = judged.error().sentence;
    }
    std::string document = torch_fit_to_json(torch, fit).render();
    std::string tag = base::sha256_hex(document);
    return http::ApiReply{.status = 200, .json = std::move(document), .tag = std::move(tag)};
}

// For readers of the index: of a private one the projects that they may read.
wire::Answered<http::ApiReply> Api::contains(const http::ApiRequest& request) {
    const auto caller = caller_of(parts_.tokens, request.authorization);
    if (!caller) return tl::unexpected(caller.error());
    const std::string name = parameter(request, "index");
    const bool is_open = !parts_.config->is_private(name);
    if (parts_.config->find_index(name) == nullptr ||
        !(is_open || (*caller && allows(**caller, name, {}, std::string(read_action)))))
        return refuse("index.unknown", "There is no index with this name", name, "GET / lists the indexes");
    const ComponentQuery query{query_value(request.query, "component").value_or(""),
                               query_value(request.query, "version").value_or("")};
    if (query.name.empty() || std::max(query.name.size(), query.version.size()) > max_component_bytes)
        return refuse("contains.component", "There is no component to look for", query.name,
                      "use component=zlib, with version=1.2.11 or without");
    return read_index(request, [&](const catalog::Catalog& catalog) {
        return find_containing(catalog, name, query, query_value(request.query, "after").value_or(""),
                               [&](const std::string& project) {
                                   return !*caller || may_read(parts_.config, **caller, name, project);
                               });
    });
}

// Quarantined files and uploaders are for those who may change the files of all projects. Returns the index.
wire::Answered<std::string> Api::index_to_operate(const http::ApiRequest& request) {
    const auto token = parts_.tokens.verify(request.authorization);
    if (!token) return tl::unexpected(token.error());
    std::string index = parameter(request, "index");
    if (!has_files_of(parts_.config, index) || !may_know(parts_.config, *token, index))
        return refuse("index.unknown", "There is no index with this name", index, "GET / lists the indexes");
    const auto verbs = lifecycle::verbs();
    const bool may_change = std::any_of(verbs.begin(), verbs.end(), [&](const lifecycle::VerbRow& row) {
        return row.subject == Subject::file && allows(*token, index, {}, std::string(row.scope));
    });
    if (!may_change || !is_for_all(token->projects) || !may_read_all(parts_.config, *token, index))
        return refuse(
            "auth.scope_refused", "This token does not permit listing the files of an index", token->id,
            "ask an administrator for a token with the action `quarantine`, `yank` or `delete` for all "
            "projects; for a private index with `read`, too");
    return index;
}

// A connection of its own: a scan of a large index must not delay commits.
wire::Answered<http::ApiReply> Api::read_index(const http::ApiRequest& request, const ReadIndex& read) {
    const auto document = parts_.store.reader().and_then(
        [&read](const std::unique_ptr<catalog::Catalog>& reader) { return read(*reader); });
    if (document) return http::ApiReply{.status = 200, .json = *document};
    return tl::unexpected(problem_of_read(request, document.error()));
}

wire::Answered<http::ApiReply> Api::list_index_files(const http::ApiRequest& request) {
    const auto index = index_to_operate(request);
    if (!index) return tl::unexpected(index.error());
    const std::string state = query_value(request.query, "state").value_or("");
    const FileQuery query{*index, catalog::parse_file_state(state),
                          query_value(request.query, "after").value_or("")};
    if (!state.empty() && !query.state)
        return refuse("files.state", "Unknown file state", state,
                      "use state=quarantined or state=active, or leave it out");
    return read_index(request, [&](const catalog::Catalog& catalog) { return list_files(catalog, query); });
}

wire::Answered<http::ApiReply> Api::storage(const http::ApiRequest& request) {
    const auto index = index_to_operate(request);
    if (!index) return tl::unexpected(index.error());
    return read_index(request, [&](const catalog::Catalog& catalog) {
        return describe_storage(parts_.config, catalog, *index, parts_.clock.now());
    });
}

// What this server has seen; it is as secret as the names in the site's network.
wire::Answered<http::ApiReply> Api::upstreams(const http::ApiRequest& request) {
    const auto index = index_to_operate(request);
    if (!index) return tl::unexpected(index.error());
    return http::ApiReply{.status = 200, .json = describe_upstreams(parts_.config, *index)};
}

// Every valid token may ask: /readyz of each node says the same to everybody. A connection of its own: the lease's is busy.
wire::Answered<http::ApiReply> Api::list_nodes(const http::ApiRequest& request) {
    if (const auto token = parts_.tokens.verify(request.authorization); !token)
        return tl::unexpected(token.error());
    const auto seen = parts_.store.node_board().and_then([](const auto& board) { return board->nodes(); });
    if (!seen) return tl::unexpected(problem_of_read(request, seen.error()));
    io::Json rows = io::Json::array();
    for (const nodes::SeenNode& node : *seen)
        rows.push(io::Json::object({{"name", node.row.name},
                                    {"is_writer", node.row.is_writer},
                                    {"lease_ms", node.lease_left_ms},
                                    {"serial_visible", node.row.visible}}));
    return http::ApiReply{
        .status = 200,
        .json = io::Json::object({{"format", "wheelyard.nodes/1"}, {"nodes", std::move(rows)}}).render()};
}

// Every valid token may ask about public indexes, whose pages show the same projects to everybody.
wire::Answered<http::ApiReply> Api::explain(const http::ApiRequest& request) {
    const auto token = parts_.tokens.verify(request.authorization);
    if (!token) return tl::unexpected(token.error());
    const std::string index = parameter(request, "index");
    const std::string project = parameter(request, "project");
    const std::string read = wheel::is_valid_name(project) ? wheel::normalize_name(project) : std::string();
    if (parts_.config->find_index(index) == nullptr || !may_read(parts_.config, *token, index, read))
        return refuse("index.unknown", "There is no index with this name", index, "GET / lists the indexes");
    const ExplainTo reader = index_to_operate(request) ? ExplainTo::administrators : ExplainTo::everyone;
    // A connection of its own: it reads pages of upstreams, which may be large, and commits would wait for that.
    const auto document =
        parts_.store.reader().and_then([&](const std::unique_ptr<catalog::Catalog>& catalog) {
            PageStore pages(parts_.config->store / "upstream");
            return explain_project(parts_.config, *catalog, pages, index, project, parts_.clock.now(),
                                   reader);
        });
    if (document) return http::ApiReply{.status = 200, .json = document->render()};
    return tl::unexpected(problem_of_read(request, document.error()));
}

}  // namespace wheelyard::registry
