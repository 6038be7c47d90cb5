#include "registry/indexes/index_apply.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "lib/wire/problem.hpp"
#include "registry/config/index_changes.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/config/index_tables.hpp"
#include "registry/config/shared_settings.hpp"

namespace wheelyard::registry {
namespace {

// A new index would show what a private one of its name left behind.
base::Status check_created(const RegistryConfig& wanted, const std::vector<IndexChange>& changes,
                           const catalog::Inheritance& known) {
    for (const IndexChange& change : changes) {
        const bool is_created = change.key.empty() && !change.is_removed;
        if (!is_created || !known.is_private(change.index) || wanted.is_private(change.index)) continue;
        return wire::fail("index.was_private",
                          "A former index of this name was private, and its files are kept", change.index,
                          "create it with read = \"token\", look at its files, then set read = \"public\"",
                          base::Recovery::person);
    }
    return {};
}

// "index.opened" if commands of an earlier version closed an index that the file opens without a word.
base::Status check_none_is_opened(const std::optional<IndexList>& list, const RegistryConfig& before,
                                  const RegistryConfig& wanted) {
    if (!list || !list->is_of_commands) return {};
    std::vector<std::string> opened = wanted.index_names();
    std::erase_if(
        opened, [&](const std::string& name) { return !before.is_private(name) || wanted.is_private(name); });
    if (opened.empty()) return {};
    return wire::fail(
        "index.opened", "Commands of an earlier version made these indexes private, and the file opens them",
        base::join(opened, ", "),
        "write `read = \"token\"` into their tables; once that is applied, the file may open them",
        base::Recovery::person);
}

// What the nodes compare: the file has these tables now.
void note_file(RegistryConfig& config, const io::Json& tables) {
    for (const auto& [name, digest] : shared_settings(io::Json::object({{"index", tables}})))
        config.shared[name] = digest;
}

// Those whose pages have to move to the other tree.
std::vector<std::string> indexes_with_other_readers(const RegistryConfig& wanted,
                                                    const catalog::Inheritance& known) {
    std::vector<std::string> names = wanted.index_names();
    std::erase_if(names,
                  [&](const std::string& name) { return wanted.is_private(name) == known.is_private(name); });
    return names;
}

}  // namespace

base::Status close_store_to_others(const RegistryConfig& config, const database::Store& store) {
    namespace fs = std::filesystem;
    constexpr auto others = fs::perms::others_all;
    std::vector<fs::path> all = store.files();
    for (const char* folder : {"blobs", "upstream", "prefetch", "sites", "resumable", "staging", "torch"})
        all.push_back(config.store / folder);
    for (const fs::path& each : all) {
        std::error_code error;
        fs::permissions(each, others, fs::perm_options::remove, error);
        if (error && error != std::errc::no_such_file_or_directory)
            return base::fail_errno("chmod", each.native(), error.value());
    }
    return {};
}

std::vector<IndexChange> changes_since(const std::optional<IndexList>& list, const RegistryConfig& wanted) {
    if (!list) return {};
    const auto before = with_indexes(wanted, list->tables);
    if (!before) return {};  // an older version's
    return list_index_changes(*before, wanted);
}

base::Result<PlannedIndexes> plan_indexes(const IndexOrder& order, const RegistryConfig& now,
                                          const std::optional<IndexList>& list) {
    WHEELYARD_TRY(check_before(order, now.index_tables));
    PlannedIndexes planned;
    WHEELYARD_ASSIGN(planned.next, with_indexes(now, order.tables));
    planned.changed = {.changes = list_index_changes(now, planned.next),
                       .before = revision_of(now.index_tables)};
    planned.is_needed = !planned.changed.changes.empty() || (list && list->is_of_commands);
    if (!order.dry_run) WHEELYARD_TRY(check_none_is_opened(list, now, planned.next));
    return planned;
}

base::Result<std::vector<std::string>> record_indexes(catalog::Catalog& catalog, const RegistryConfig& wanted,
                                                      const std::vector<IndexChange>& changes,
                                                      const catalog::Cause& cause, bool is_of_commands) {
    WHEELYARD_ASSIGN(const catalog::Inheritance known, catalog.inheritance(catalog::Readers::any));
    WHEELYARD_TRY(check_created(wanted, changes, known));
    WHEELYARD_TRY(catalog.set_index_rules(index_rules(wanted), cause, reasons_of(changes),
                                          render_index_list({wanted.index_tables, is_of_commands})));
    return indexes_with_other_readers(wanted, known);
}

void IndexApply::open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
}

base::Result<IndexesChanged> IndexApply::apply(const IndexOrder& order) {
    const std::lock_guard lock(mutex_);
    if (!is_open_)
        return base::fail_as(base::ErrorKind::busy, base::Recovery::retry,
                             {"index.starting", "The server is starting", {}, "try again in a moment"});
    const SharedConfig now = parts_.config.now();
    WHEELYARD_ASSIGN(const auto list, read_index_list(parts_.store));
    WHEELYARD_ASSIGN(auto planned, plan_indexes(order, *now, list));
    auto& [next, changed, is_needed] = planned;
    if (order.dry_run) return std::move(changed);
    note_file(next, order.tables);
    if (!is_needed) {  // a repeated request waits for the pages of the first one
        if (next.shared != now->shared) replace_notes(std::move(next));
        WHEELYARD_TRY(parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(changed.serial, catalog.last_serial());
            return {};
        }));
        return changed;
    }
    WHEELYARD_ASSIGN(changed.serial, commit(std::move(next), changed.changes, order.actor));
    for (const IndexChange& change : changed.changes)
        io::log_info("indexes.applied",
                     {{"by", order.actor}, {"index", change.index}, {"change", change.text()}});
    return changed;
}

base::Result<catalog::Serial> IndexApply::commit(RegistryConfig next, const std::vector<IndexChange>& changes,
                                                 const std::string& actor) {
    if (next.has_private()) WHEELYARD_TRY(close_store_to_others(next, parts_.store));
    const catalog::Cause cause{.actor = actor, .reason = {}, .time = parts_.clock.now()};
    catalog::Serial committed = 0;
    std::vector<std::string> moving;
    const auto record = [&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(moving, record_indexes(catalog, next, changes, cause));
        WHEELYARD_ASSIGN(committed, catalog.last_serial());
        return {};
    };
    const auto alone = parts_.config.lock_runs();
    WHEELYARD_TRY(blobs::with_reserve(next.room(), [&] { return parts_.writer.run(record); }));
    // After the rules are durable: nothing is accepted for an index that a crash would forget to keep
    // private.
    put_in_force(std::move(next), moving, committed);
    return committed;
}

void IndexApply::replace_notes(RegistryConfig next) {
    const auto alone = parts_.config.lock_runs();
    parts_.config.replace(std::move(next));
}

// The caller has the configuration's lock_runs().
void IndexApply::put_in_force(RegistryConfig next, const std::vector<std::string>& moving,
                              catalog::Serial committed) {
    parts_.config.replace(std::move(next));
    parts_.upstreams.use_new_config();
    parts_.moves->begin(moving, committed);
    if (!moving.empty())
        parts_.pages.call_despite_failures(committed,
                                           [moves = parts_.moves, committed] { moves->end(committed); });
}

base::Status IndexApply::adopt(const catalog::Catalog& reader) {
    const std::lock_guard lock(
        mutex_);  // before the list is read: an own change is not undone by an older list
    if (!is_open_) return {};
    WHEELYARD_ASSIGN(std::string list, reader.index_list());
    if (list.empty() || list == adopted_) return {};
    WHEELYARD_ASSIGN(const IndexList wanted, parse_index_list(list));
    const SharedConfig now = parts_.config.now();
    WHEELYARD_ASSIGN(RegistryConfig next, with_indexes(*now, wanted.tables));
    const std::vector<IndexChange> changes = list_index_changes(*now, next);
    if (!changes.empty()) {
        if (next.has_private()) WHEELYARD_TRY(close_store_to_others(next, parts_.store));
        WHEELYARD_ASSIGN(const catalog::Serial committed, reader.last_serial());
        std::vector<std::string> moving = next.index_names();
        std::erase_if(moving, [&](const std::string& name) {
            return now->find_index(name) == nullptr || now->is_private(name) == next.is_private(name);
        });
        const auto alone = parts_.config.lock_runs();
        put_in_force(std::move(next), moving, committed);
        for (const IndexChange& change : changes)
            io::log_info("indexes.adopted", {{"index", change.index}, {"change", change.text()}});
    }
    adopted_ = std::move(list);
    return {};
}

base::Status IndexApply::apply_file(const std::string& actor) {
    const SharedConfig now = parts_.config.now();
    WHEELYARD_ASSIGN(const RegistryConfig wanted, read_config(now->file));
    WHEELYARD_TRY(check_same_store(*now, wanted));
    if (const auto waiting = settings_that_wait(*now, wanted); !waiting.empty())
        io::log_warn("serve.restart_needed",
                     {{"keys", base::join(waiting, ", ")}, {"file", now->file.string()}});
    if (!now->is_of_several()) {
        WHEELYARD_ASSIGN(const IndexesChanged changed,
                         apply({.tables = wanted.index_tables, .actor = actor}));
        return parts_.pages.wait_until_visible(changed.serial, now->server.page_wait_ms);
    }
    {
        const std::lock_guard lock(mutex_);
        RegistryConfig next = *parts_.config.now();
        note_file(next, wanted.index_tables);
        replace_notes(std::move(next));
    }
    if (list_index_changes(*now, wanted).empty()) return {};
    return base::fail("index.decided_by_nodes", "The file has other indexes than the nodes have in common",
                      now->file.string(),
                      "`wheelyard-registry apply` shows the difference and applies the file to all nodes");
}

void IndexApply::on_signal(const std::string& actor) {
    if (const auto done = apply_file(actor); !done)
        io::log_error("indexes.not_applied", {{"by", actor}, {"error", done.error().text()}});
}

}  // namespace wheelyard::registry
