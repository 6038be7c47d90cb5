#include "registry/api/index_api.hpp"

#include <functional>
#include <utility>

#include "lib/wire/problem.hpp"
#include "registry/api/api.hpp"
#include "registry/api/operation.hpp"
#include "registry/api/readers.hpp"
#include "registry/config/index_tables.hpp"
#include "registry/intake/refusal.hpp"

namespace wheelyard::registry {

base::Status check_before(const IndexOrder& order, const io::Json& in_force) {
    if (order.before.empty() || order.before == revision_of(in_force)) return {};
    return wire::fail("index.changed", "The indexes have changed in the meantime", {},
                      "repeat the command: it shows the difference", base::Recovery::person);
}

namespace {

using io::field;
using io::Json;
using io::Need;

struct NamedIndex {
    std::string index;
};
constexpr auto of_named_index =
    arguments<NamedIndex>({in_path(field<&NamedIndex::index>("index", "The index"))});

struct FileIndexes {
    std::string before;
    bool dry_run = false;
};
constexpr auto of_file_indexes = arguments<FileIndexes>({
    in_document<FileIndexes>("indexes", "All [[index]] tables", true, objects_type),
    in_body(field<&FileIndexes::before>("before", "Refuse, if the indexes have another revision by now",
                                        Need::valid)),
    in_body(field<&FileIndexes::dry_run>("dry_run", "Change nothing, say what would be done", Need::valid)),
});

struct ShownIndex {
    std::string name;
    Json keys;
};
constexpr auto index_record = io::record<ShownIndex>(
    {
        field<&ShownIndex::name>("name", "the index"),
        field<io::AsIs, &ShownIndex::keys>("keys", "its table of registry.toml"),
    },
    "wheelyard.index/1");
constexpr auto indexes_record = io::record_of<std::vector<ShownIndex>, io::ListOf<io::Nested<index_record>>>(
    "indexes", "in the file's order", "wheelyard.index_tables/1");

struct ShownIndexChanges {
    bool changed = false;
    bool dry_run = false;
    std::vector<IndexChange> changes;
    catalog::Serial serial = 0;
    std::string before;
};
constexpr auto index_change_record = io::record<IndexChange>({
    field<&IndexChange::index>("index", "the index"),
    io::field_of<IndexChange, io::Made<&IndexChange::text, io::Plain<std::string>>>(
        "change", "`quota_mib: 0 -> 100`, `created` or `removed`"),
});
constexpr auto index_changed_record = io::record<ShownIndexChanges>(
    {
        field<&ShownIndexChanges::changed>("changed",
                                           "`false`: the indexes were so already, or nothing was changed"),
        field<&ShownIndexChanges::dry_run>("dry_run", "`true`: nothing was changed"),
        field<io::ListOf<io::Nested<index_change_record>>, &ShownIndexChanges::changes>("changes",
                                                                                        "key by key"),
        field<&ShownIndexChanges::serial>("serial", "that of its last event; 0: there is none"),
        field<&ShownIndexChanges::before>("before", "the revision of the indexes before it"),
    },
    "wheelyard.index_changed/1");

ShownIndex shown_index(const Json& table) {
    return {table.string_or("name", ""), table};
}

Reply list_indexes(const ApiParts& parts, const Call&, const NoArguments&) {
    std::vector<ShownIndex> shown;
    for (const Json& table : parts.config->index_tables.items())
        shown.push_back(shown_index(table));
    return reply_with(indexes_record.write(shown));
}

Reply show_index(const ApiParts& parts, const Call&, const NamedIndex& of) {
    const Json* table = find_table(parts.config->index_tables, of.index);
    if (table == nullptr) return unknown_index(parts.config, of.index);
    return reply_with(index_record.write(shown_index(*table)));
}

Reply apply_indexes(const ApiParts& parts, const Call& call, const FileIndexes& file) {
    const Json* tables = call.arguments.find("indexes");
    const auto changed = parts.indexes->apply({.tables = tables == nullptr ? Json::array() : *tables,
                                               .before = file.before,
                                               .actor = call.who().name,
                                               .dry_run = file.dry_run});
    if (!changed) return fail_call(call, "index.refused", changed.error(), problem_of_change);
    http::ApiReply reply =
        reply_with(index_changed_record.write({.changed = !changed->changes.empty() && !file.dry_run,
                                               .dry_run = file.dry_run,
                                               .changes = changed->changes,
                                               .serial = changed->serial,
                                               .before = changed->before}));
    if (changed->serial == 0) return reply;
    reply.if_not_visible = wire::make_problem(
        "lifecycle.page_lags", "The change is committed, but its pages are not published yet",
        "The change is committed, but its pages are not published yet.", {},
        "send the same request again, without `before`: it returns 200 once the pages are published");
    reply.when_visible = [&pages = parts.pages, serial = changed->serial](std::function<void(bool)> then) {
        pages.call_when_visible(
            serial, {}, [then = std::move(then)](const base::Status& status) { then(status.has_value()); });
    };
    return reply;
}

// Rules of one index decide what others show, so there is no narrower right.
constexpr Right of_index_administrators{.scope = Scope::everything,
                                        .action = index_action,
                                        .to = "the administration of indexes",
                                        .advice = "the action `index` for all indexes and projects (`*`)"};

constexpr std::array index_rows{
    row<no_arguments, list_indexes>(got("/api/v1/indexes", "describeIndexes", io::document_of<indexes_record>,
                                        "Lists the indexes with their keys, as in registry.toml"),
                                    "index.body", of_index_administrators),
    row<of_named_index, show_index>(got("/api/v1/indexes/{index}", "describeIndex",
                                        io::document_of<index_record>, "Returns the keys of an index"),
                                    "index.body", of_index_administrators),
    row<of_file_indexes, apply_indexes>(local("applyIndexes", io::document_of<index_changed_record>,
                                              "Applies the [[index]] tables of the configuration file"),
                                        "index.body", {.callers = Callers::local}),
};

}  // namespace

std::span<const OperationRow> index_operations() {
    return index_rows;
}

}  // namespace wheelyard::registry
