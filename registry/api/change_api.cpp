// The operations that change published files: the change itself is lifecycle/'s, and the reply waits until
// the pages show it.
#include <algorithm>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/io/log.hpp"
#include "lib/store/catalog/file_members.hpp"
#include "lib/wheel/name.hpp"
#include "registry/access/person.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/intake/attestations.hpp"
#include "registry/intake/torch_tables.hpp"
#include "registry/upstream/source.hpp"

namespace wheelyard::registry {
namespace {

using io::field;
using io::Need;
using lifecycle::Action;
using lifecycle::Verb;

struct ProjectStatusWord : catalog::WordBy<catalog::project_status_text, catalog::parse_project_status> {
    static std::string type() { return "one of active, deprecated, archived, quarantined"; }
};

constexpr auto index_of_change = in_path(field<&Action::index>("index", "The index"));
constexpr auto file_argument =
    in_path(field<&Action::filename>("filename", "The file's name, as on the project's page"));
constexpr auto named_argument = in_path(
    field<&Action::filename>("filename", "The file's name, as on the project's page, or PROJECT==VERSION"));
constexpr auto reason_argument =
    in_body(field<&Action::reason>("reason", "The reason in one line; recorded in the log", Need::valid));
constexpr auto needed_reason = needed_in_body(
    field<&Action::reason>("reason", "The reason in one line; the page and the log show it", Need::valid));
constexpr auto dry_run_argument =
    in_body(field<&Action::dry_run>("dry_run", "Change nothing, say what would be done", Need::valid));

constexpr auto of_changed_file = arguments<Action>({index_of_change, file_argument, reason_argument});
constexpr auto of_file_with_reason = arguments<Action>({index_of_change, file_argument, needed_reason});
constexpr auto of_named = arguments<Action>({index_of_change, named_argument, reason_argument});
constexpr auto of_named_with_reason = arguments<Action>({index_of_change, named_argument, needed_reason});
constexpr auto of_promotion = arguments<Action>({
    index_of_change,
    file_argument,
    needed_in_body(field<&Action::to_index>("to", "The target index", Need::valid)),
    in_body(field<io::ListOf<io::Plain<std::string>>, &Action::with>(
        "with", "More files of the set; users who see the first file see these, too", Need::valid)),
    in_body(field<&Action::from_upstream>(
        "from_upstream", "Also a file that came from an upstream, to an index that owns its name",
        Need::valid)),
    reason_argument,
});
constexpr auto of_status = arguments<Action>({
    index_of_change,
    in_path(field<&Action::project>("project", "The project's name")),
    in_body(field<ProjectStatusWord, &Action::status>("status", "active, deprecated, archived or quarantined",
                                                      Need::required)),
    reason_argument,
});
constexpr auto of_retention = arguments<Action>({
    index_of_change,
    needed_in_body(field<&Action::keep>("keep", "Number of versions to keep of each series", Need::valid)),
    in_body(field<&Action::project>("project", "Only this project (default: all)", Need::valid)),
    reason_argument,
    dry_run_argument,
});
constexpr auto of_collection = arguments<Action>({
    in_body(field<&Action::grace_ms>("grace_ms", "Keep what nothing has referred to for less than this",
                                     Need::valid)),
    reason_argument,
    dry_run_argument,
});

// The pages to wait for. A retention run may touch many projects, as does the promotion of a set, so they
// wait for all pages of the index, including those of an earlier, repeated request.
PageOf pages_of(const Action& action) {
    if (!action.with.empty()) return {action.to_index, {}, {}};
    PageOf page{action.verb == Verb::promote ? action.to_index : action.index, action.project,
                action.filename};
    if (page.project.empty()) page.project = project_of_filename(action.filename);
    return page;
}

// A set is promoted with the right to each file, in both indexes.
wire::Answered<void> check_set(const ApiParts& parts, const Call& call, const Action& action) {
    const Identity& who = call.who();
    for (const std::string& filename : lifecycle::filenames_of(action)) {
        const std::string project = project_of_filename(filename);
        const bool has_every_project =
            std::find(who.projects.begin(), who.projects.end(), "*") != who.projects.end();
        const bool is_allowed = call.is_local || ((!project.empty() || has_every_project) &&
                                                  allows(who, action.index, project, "promote") &&
                                                  allows(who, action.to_index, project, "promote"));
        if (!is_allowed) return refuse_right(call);
    }
    if (parts.config->find_index(action.to_index) == nullptr ||
        !(call.is_local || may_know(parts.config, who, action.to_index)))
        return unknown_index(parts.config, action.to_index);
    return {};
}

// The token that uploaded a file cannot promote it: promotion is a second opinion.
wire::Answered<void> check_promotion(const ApiParts& parts, const Call& call, const Action& action) {
    if (auto allowed = check_set(parts, call, action); !allowed) return allowed;
    const IndexConfig& target = *parts.config->find_index(action.to_index);
    if (const auto open = check_not_archived(target); !open)
        return fail_call(call, "lifecycle.refused", open.error(), problem_of_change);
    for (const std::string& filename : lifecycle::filenames_of(action)) {
        if (const auto taken = check_takes(target, filename); !taken)
            return fail_call(call, "lifecycle.refused", taken.error(), problem_of_change);
        const auto row = parts.writer.find_file(action.index, filename);
        if (!row) return fail_call(call, "lifecycle.refused", row.error(), problem_of_change);
        if (!call.is_local && *row && is_same_actor((*row)->uploaded_by, call.who().name))
            return refuse("lifecycle.own_file", "The uploader of a file cannot promote it", call.who().name,
                          "promote it with another token");
    }
    return {};
}

void wait_for_pages(const ApiParts& parts, http::ApiReply& reply, const Action& action,
                    const lifecycle::Done& done) {
    if (done.serial == 0) return;  // nothing changed
    PageOf page = pages_of(action);
    reply.if_not_visible = wire::make_problem(
        "lifecycle.page_lags", "The change is committed, but its page is not published yet",
        "The change is committed, but its page is not published yet.", page.filename,
        "send the same request again: it returns 200 once the page is published");
    reply.when_visible = [&pages = parts.pages, serial = done.serial,
                          page = std::move(page)](std::function<void(bool)> then) {
        pages.call_when_visible(
            serial, page, [then = std::move(then)](const base::Status& status) { then(status.has_value()); });
    };
}

lifecycle::LifecycleParts place_of(const ApiParts& parts, const Call& call) {
    return {.on_catalog = [&parts](const lifecycle::CatalogWork& work) { return parts.writer.run(work); },
            .blobs = parts.blobs,
            .clock = parts.clock,
            .admits = [&parts](const std::string& index, const catalog::FileRow& row,
                               const std::vector<catalog::FileRow>& with) -> base::Status {
                WHEELYARD_TRY(check_origin(parts.config, index, row));
                return check_with_torches(parts.config, index, row, offered_files(parts.writer, index), with,
                                          {parts.blobs, parts.config->store});
            },
            .step = call.step,
            .store = parts.config->blob_place().text(),
            .config = parts.config->file};
}

template <Verb verb>
Reply change(const ApiParts& parts, const Call& call, Action action) {
    action.verb = verb;
    if (!action.project.empty()) action.project = wheel::normalize_name(action.project);
    const auto fail = [&](const base::Error& error) {
        return fail_call(call, "lifecycle.refused", error, problem_of_change);
    };
    if (const auto sensible = lifecycle::check(action); !sensible) return fail(sensible.error());
    if (verb == Verb::promote) {
        if (auto allowed = check_promotion(parts, call, action); !allowed)
            return tl::unexpected(std::move(allowed.error()));
    }
    const auto done = blobs::with_reserve(parts.config->room(), [&] {
        return lifecycle::perform(place_of(parts, call), action, call.who().name);
    });
    if (!done) return fail(done.error());
    if (!call.is_local)
        io::log_info("lifecycle.done", {{"request", call.request.request_id},
                                        {"token", call.who().id},
                                        {"action", std::string(lifecycle::row_of(verb).word)},
                                        {"index", action.index},
                                        {"filename", base::join(lifecycle::filenames_of(action), " ")},
                                        {"project", action.project},
                                        {"serial", std::to_string(done->serial)},
                                        {"changed", done->changed ? "yes" : "no"}});
    http::ApiReply reply = reply_with(lifecycle::render_done(verb, *done));
    wait_for_pages(parts, reply, action, *done);
    return reply;
}

constexpr std::string_view change_format = "wheelyard.change/1";

constexpr http::Operation address(std::string_view path, std::string_view id, std::string_view summary) {
    return posted(path, id, lifecycle::changed_document, summary, http::BodyKind::json, change_format);
}

constexpr Right on_files(std::string_view action, std::string_view advice = {}) {
    return {.scope = Scope::project, .action = action, .index = IndexIs::with_files, .advice = advice};
}
constexpr wire::Refusal malformed_change{"lifecycle.body"};

constexpr std::array file_rows{
    row<of_named_with_reason, change<Verb::yank>>(
        address("/api/v1/indexes/{index}/files/{filename}/yank", "yankFile", "Yanks a file (PEP 592)"),
        malformed_change, on_files("yank")),
    row<of_named, change<Verb::unyank>>(address("/api/v1/indexes/{index}/files/{filename}/unyank",
                                                "unyankFile", "Removes the yank of a file"),
                                        malformed_change, on_files("yank")),
    row<of_file_with_reason, change<Verb::remove>>(
        address("/api/v1/indexes/{index}/files/{filename}/delete", "deleteFile",
                "Deletes a file; its name is never used again"),
        malformed_change, on_files("delete")),
    row<of_named_with_reason, change<Verb::quarantine>>(
        address("/api/v1/indexes/{index}/files/{filename}/quarantine", "quarantineFile",
                "Stops listing and serving a file but keeps it"),
        malformed_change, on_files("quarantine")),
    row<of_named_with_reason, change<Verb::release>>(
        address("/api/v1/indexes/{index}/files/{filename}/release", "releaseFile",
                "Lists and serves a quarantined file again"),
        malformed_change, on_files("quarantine")),
    row<of_changed_file, change<Verb::pin>>(
        address("/api/v1/indexes/{index}/files/{filename}/pin", "pinFile", "Protects a file from deletion"),
        malformed_change, on_files("pin")),
    row<of_changed_file, change<Verb::unpin>>(address("/api/v1/indexes/{index}/files/{filename}/unpin",
                                                      "unpinFile", "Permits the deletion of a file again"),
                                              malformed_change, on_files("pin")),
    row<of_promotion, change<Verb::promote>>(
        address("/api/v1/indexes/{index}/files/{filename}/promote", "promoteFile",
                "Adds a file, or several as one change, to another index"),
        malformed_change,
        on_files("promote", "the action `promote` for each project, in this index and in `to`")),
};

constexpr std::array rule_rows{
    row<of_status, change<Verb::set_status>>(address("/api/v1/indexes/{index}/projects/{project}/status",
                                                     "setProjectStatus", "Sets a project's status (PEP 792)"),
                                             malformed_change, on_files("status")),
    row<of_retention, change<Verb::retain>>(address("/api/v1/indexes/{index}/retain", "applyRetention",
                                                    "Deletes all but the newest versions of each series"),
                                            malformed_change,
                                            on_files("delete",
                                                     "the action `delete` for this index and project; "
                                                     "without `project` for all projects (`*`)")),
    row<of_collection, change<Verb::collect>>(
        address("/api/v1/gc", "collectBlobs", "Removes stored bytes that no file refers to"),
        malformed_change,
        {.scope = Scope::every_index, .action = "gc", .advice = "the action `gc` for all indexes (`*`)"}),
};

}  // namespace

std::span<const OperationRow> file_operations() {
    return file_rows;
}

std::span<const OperationRow> rule_operations() {
    return rule_rows;
}

}  // namespace wheelyard::registry
