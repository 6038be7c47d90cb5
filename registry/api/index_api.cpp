#include "registry/api/index_api.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "lib/io/log.hpp"
#include "lib/io/toml.hpp"
#include "registry/api/api.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

using io::Json;

constexpr std::string_view order_format = "wheelyard.index_change/1";
constexpr std::string_view list_indexes_operation = "describeIndexes";
constexpr std::string_view show_index_operation = "describeIndex";
constexpr std::string_view create_index_operation = "createIndex";
constexpr std::string_view set_index_operation = "setIndex";

tl::unexpected<base::Error> bad_body(std::string sentence) {
    return wire::fail("index.body", std::move(sentence), {}, "docs/reference/api.md has an example");
}

// Rules of one index decide what others show, so there is no narrower right.
bool administers_indexes(const Identity& caller) {
    const auto is_for_all = [](const std::vector<std::string>& scope) {
        return std::find(scope.begin(), scope.end(), "*") != scope.end();
    };
    return !caller.is_grant && is_for_all(caller.indexes) && is_for_all(caller.projects) &&
           allows(caller, "*", {}, index_action);
}

}  // namespace

base::Result<IndexOrder> parse_index_order(std::string_view body, IndexEdit::Kind kind,
                                           const std::string& index) {
    const auto json = io::parse_json(body);
    if (!json || json->as_object() == nullptr) return bad_body("The body is not a JSON object");
    io::TomlDocument document = io::TomlDocument::of_json(*json, "body");
    io::TomlTable root = document.root();
    if (root.string("format") != order_format)
        root.report("format", "the format must be \"" + std::string(order_format) + "\"");
    IndexOrder order{.edit = {.kind = kind, .index = index, .keys = root.json("keys")}};
    if (order.edit.keys.as_object() == nullptr)
        root.report("keys", "`keys` is an object with the keys of an [[index]] table");
    if (kind == IndexEdit::Kind::create)
        order.edit.index = order.edit.keys.string_or("name", "");
    else
        order.edit.revision = root.string_or("revision", "");
    order.dry_run = root.boolean_or("dry_run", false);
    if (const auto read = document.finish(); !read) return bad_body(read.error().sentence);
    return order;
}

std::string render_index_order(const IndexOrder& order) {
    Json body =
        Json::object({{"format", order_format}, {"keys", order.edit.keys}, {"dry_run", order.dry_run}});
    if (order.edit.kind == IndexEdit::Kind::create) {
        Json keys = Json::object({{"name", order.edit.index}});
        for (const auto& [key, value] : *order.edit.keys.as_object())
            keys.set(key, value);
        body.set("keys", std::move(keys));
    } else if (!order.edit.revision.empty()) {
        body.set("revision", order.edit.revision);
    }
    return body.render();
}

Json index_json(const Json& table) {
    return Json::object({{"format", "wheelyard.index/1"},
                         {"name", table.string_or("name", "")},
                         {"revision", revision_of(table)},
                         {"keys", table}});
}

Json indexes_json(const Json& tables, std::string_view decided_by) {
    Json indexes = Json::array();
    for (const Json& table : tables.items())
        indexes.push(index_json(table));
    return Json::object(
        {{"format", "wheelyard.indexes/1"}, {"decided_by", decided_by}, {"indexes", std::move(indexes)}});
}

Json index_changed_json(const IndexesChanged& changed, const std::string& index, bool dry_run) {
    Json changes = Json::array();
    for (const IndexChange& change : changed.changes)
        changes.push(Json::object({{"index", change.index}, {"change", change.text()}}));
    const Json* table = find_table(changed.tables, index);
    return Json::object({{"format", "wheelyard.index_changed/1"},
                         {"index", index},
                         {"changed", !changed.changes.empty() && !dry_run},
                         {"dry_run", dry_run},
                         {"changes", std::move(changes)},
                         {"serial", changed.serial},
                         {"revision", table == nullptr ? std::string() : revision_of(*table)}});
}

bool IndexApi::handles(std::string_view operation) {
    return operation == list_indexes_operation || operation == show_index_operation ||
           operation == create_index_operation || operation == set_index_operation;
}

wire::Answered<http::ApiReply> IndexApi::answer(const http::ApiRequest& request) {
    const auto caller = parts_.tokens.verify(request.authorization);
    if (!caller) return tl::unexpected(caller.error());
    if (!administers_indexes(*caller))
        return refuse(
            "auth.scope_refused", "This token does not permit the administration of indexes", caller->id,
            "ask an administrator for a token with the action `index` for all indexes and projects");
    if (request.operation == create_index_operation) return change(request, *caller, IndexEdit::Kind::create);
    if (request.operation == list_indexes_operation)
        return http::ApiReply{
            .status = 200,
            .json = indexes_json(parts_.config.index_tables, parts_.indexes.decided_by_word()).render()};
    const std::string index = parameter(request, "index");
    const Json* table = find_table(parts_.config.index_tables, index);
    if (table == nullptr)
        return refuse("index.unknown", "There is no index with this name", index,
                      "GET /api/v1/indexes lists the indexes");
    if (request.operation == show_index_operation)
        return http::ApiReply{.status = 200, .json = index_json(*table).render()};
    return change(request, *caller, IndexEdit::Kind::set);
}

IndexApi::Reply IndexApi::change(const http::ApiRequest& request, const Identity& caller,
                                 IndexEdit::Kind kind) {
    const auto order = parse_index_order(request.body, kind, parameter(request, "index"));
    const auto changed = order ? parts_.indexes.change(order->edit, caller.name, order->dry_run)
                               : base::Result<IndexesChanged>(tl::unexpected(order.error()));
    if (!changed) {
        wire::Problem problem = problem_of_change(changed.error());
        io::log_warn("index.refused", {{"request", request.request_id},
                                       {"token", caller.id},
                                       {"status", std::to_string(problem.status)},
                                       {"error", changed.error().text()}});
        return tl::unexpected(std::move(problem));
    }
    http::ApiReply reply{.status = 200,
                         .json = index_changed_json(*changed, order->edit.index, order->dry_run).render()};
    if (changed->serial == 0) return reply;
    reply.if_not_visible = wire::make_problem(
        "lifecycle.page_lags", "The change is committed, but its pages are not published yet",
        "The change is committed, but its pages are not published yet.", order->edit.index,
        "send the same request again, without a revision: it returns 200 once the pages are published");
    reply.when_visible = [&pages = parts_.pages, serial = changed->serial](std::function<void(bool)> then) {
        pages.call_when_visible(
            serial, {}, [then = std::move(then)](const base::Status& status) { then(status.has_value()); });
    };
    return reply;
}

}  // namespace wheelyard::registry
