#include "registry/api/index_api.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "lib/io/toml.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {
namespace {

using io::field;
using io::Json;
using io::Need;

constexpr std::string_view order_format = "wheelyard.index_change/1";
tl::unexpected<base::Error> bad_body(std::string sentence) {
    return wire::fail("index.body", std::move(sentence), {}, "docs/reference/api.md has an example");
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

namespace {

struct NamedIndex {
    std::string index;
};
constexpr auto of_named_index =
    arguments<NamedIndex>({in_path(field<&NamedIndex::index>("index", "The index"))});
constexpr auto of_creation = arguments<NoArguments>({
    in_document("keys", "The keys of an [[index]] table, `name` among them", true, object_type),
    in_document("dry_run", "Change nothing, say what would be done", false, &io::Plain<bool>::type),
});
constexpr auto of_index_change = arguments<NamedIndex>({
    in_path(field<&NamedIndex::index>("index", "The index")),
    in_document<NamedIndex>("keys", "Keys of an [[index]] table; null removes one", true, object_type),
    in_document<NamedIndex>("revision",
                            "Change it only if this is still its revision, as `index show --json` has it"),
    in_document<NamedIndex>("dry_run", "Change nothing, say what would be done", false,
                            &io::Plain<bool>::type),
});

struct FileIndexes {
    std::vector<std::string> open;
    std::string before;
    bool dry_run = false;
};
constexpr auto of_file_indexes = arguments<FileIndexes>({
    in_document<FileIndexes>("indexes", "All [[index]] tables", true, objects_type),
    in_body(field<io::ListOf<io::Plain<std::string>>, &FileIndexes::open>(
        "open", "Indexes that a command made private and that become public", Need::valid)),
    in_body(field<&FileIndexes::before>("before", "Refuse, if the indexes have another revision by now",
                                        Need::valid)),
    in_body(field<&FileIndexes::dry_run>("dry_run", "Change nothing, say what would be done", Need::valid)),
});

Reply list_indexes(const ApiParts& parts, const Call&, const NoArguments&) {
    return reply_with(indexes_json(parts.config->index_tables, parts.indexes->decided_by_word()));
}

Reply show_index(const ApiParts& parts, const Call&, const NamedIndex& of) {
    const Json* table = find_table(parts.config->index_tables, of.index);
    if (table == nullptr) return unknown_index(parts.config, of.index);
    return reply_with(index_json(*table));
}

Reply change_indexes(const ApiParts& parts, const Call& call, const base::Result<IndexOrder>& order) {
    const Identity& caller = call.who();
    const auto changed =
        order ? parts.indexes->change(order->edit, {caller.name, call.is_local}, order->dry_run)
              : base::Result<IndexesChanged>(tl::unexpected(order.error()));
    if (!changed) return fail_call(call, "index.refused", changed.error(), problem_of_change);
    io::Json document = index_changed_json(*changed, order->edit.index, order->dry_run);
    if (order->edit.kind == IndexEdit::Kind::apply) {
        document.set("before", changed->before);
        document.set("opened", Json::array_of(changed->opened));
    }
    http::ApiReply reply = reply_with(document);
    if (changed->serial == 0) return reply;
    reply.if_not_visible = wire::make_problem(
        "lifecycle.page_lags", "The change is committed, but its pages are not published yet",
        "The change is committed, but its pages are not published yet.", order->edit.index,
        "send the same request again, without a revision: it returns 200 once the pages are published");
    reply.when_visible = [&pages = parts.pages, serial = changed->serial](std::function<void(bool)> then) {
        pages.call_when_visible(
            serial, {}, [then = std::move(then)](const base::Status& status) { then(status.has_value()); });
    };
    return reply;
}

Reply create_index(const ApiParts& parts, const Call& call, const NoArguments&) {
    return change_indexes(parts, call, parse_index_order(call.request.body, IndexEdit::Kind::create, {}));
}

Reply set_index(const ApiParts& parts, const Call& call, const NamedIndex& of) {
    if (find_table(parts.config->index_tables, of.index) == nullptr)
        return unknown_index(parts.config, of.index);
    return change_indexes(parts, call, parse_index_order(call.request.body, IndexEdit::Kind::set, of.index));
}

// Only from the machine: nothing of the file's upstreams is checked.
Reply apply_indexes(const ApiParts& parts, const Call& call, const FileIndexes& file) {
    const Json* tables = call.arguments.find("indexes");
    return change_indexes(parts, call,
                          IndexOrder{.edit = {.kind = IndexEdit::Kind::apply,
                                              .index = {},
                                              .keys = tables == nullptr ? Json::array() : *tables,
                                              .revision = file.before,
                                              .may_open = file.open},
                                     .dry_run = file.dry_run});
}

// Rules of one index decide what others show, so there is no narrower right.
constexpr Right of_index_administrators{.scope = Scope::everything,
                                        .action = index_action,
                                        .to = "the administration of indexes",
                                        .advice = "the action `index` for all indexes and projects (`*`)"};

constexpr std::array index_rows{
    row<no_arguments, list_indexes>(
        got("/api/v1/indexes", "describeIndexes", "Lists the indexes with their keys, as in registry.toml"),
        "index.body", of_index_administrators),
    row<of_creation, create_index>(
        posted("/api/v1/indexes", "createIndex", "Creates an index", http::BodyKind::document, order_format),
        "index.body", of_index_administrators),
    row<of_named_index, show_index>(
        got("/api/v1/indexes/{index}", "describeIndex", "Returns the keys of an index"), "index.body",
        of_index_administrators),
    row<of_index_change, set_index>(
        posted("/api/v1/indexes/{index}/set", "setIndex",
               "Changes keys of an index: quotas, what it takes, whether it is archived",
               http::BodyKind::document, order_format),
        "index.body", of_index_administrators),
    row<of_file_indexes, apply_indexes>(
        local("applyIndexes", "Makes the configuration file decide the indexes"), "index.body",
        {.callers = Callers::local}),
};

}  // namespace

std::span<const OperationRow> index_operations() {
    return index_rows;
}

}  // namespace wheelyard::registry
