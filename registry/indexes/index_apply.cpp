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

std::vector<std::string> opened_by_file(const RegistryConfig& now, DecidedBy decided_by,
                                        const RegistryConfig& wanted, const IndexEdit& edit) {
    std::vector<std::string> opened;
    if (edit.kind != IndexEdit::Kind::apply || decided_by == DecidedBy::file) return opened;
    for (const std::string& index : wanted.index_names()) {
        const bool is_opened = now.is_private(index) && !wanted.is_private(index);
        if (is_opened && std::find(edit.may_open.begin(), edit.may_open.end(), index) == edit.may_open.end())
            opened.push_back(index);
    }
    return opened;
}

base::Status check_none_is_opened(const IndexesChanged& changed) {
    if (changed.opened.empty()) return {};
    return base::fail(
        "index.opened", "A command made this index private, and the file makes it public",
        base::join(changed.opened, ", "),
        "write `read = \"token\"` into its table, or name it: `apply --open " + changed.opened.front() + "`");
}

DecidedBy decided_by_after(const IndexEdit& edit) {
    return edit.kind == IndexEdit::Kind::apply ? DecidedBy::file : DecidedBy::commands;
}

std::map<std::string, std::string> reasons_since(const std::optional<IndexList>& list,
                                                 const RegistryConfig& wanted) {
    if (!list) return {};
    const auto before = with_indexes(wanted, list->tables);
    if (!before) return {};  // an older version's
    return reasons_of(list_index_changes(*before, wanted));
}

void IndexApply::open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
}

DecidedBy IndexApply::decided_by() const {
    const std::lock_guard lock(mutex_);
    return decided_by_;
}

base::Result<IndexesChanged> IndexApply::change(const IndexEdit& edit, const IndexCaller& caller,
                                                bool dry_run) {
    const std::lock_guard lock(mutex_);
    if (!is_open_)
        return base::fail_as(base::ErrorKind::busy, base::Recovery::retry,
                             {"index.starting", "The server is starting", {}, "try again in a moment"});
    const RegistryConfig& now = parts_.config.now();
    const DecidedBy by = decided_by_after(edit);
    IndexesChanged changed{.before = revision_of(now.index_tables)};
    WHEELYARD_ASSIGN(changed.tables, edit_tables(now.index_tables, edit));
    WHEELYARD_ASSIGN(RegistryConfig next, with_indexes(now, changed.tables));
    changed.changes = list_index_changes(now, next);
    if (!caller.is_local) WHEELYARD_TRY(check_upstream_places(now, next));
    changed.opened = opened_by_file(now, decided_by_, next, edit);
    if (dry_run) return changed;
    WHEELYARD_TRY(check_none_is_opened(changed));
    const bool is_decided = decided_by_ == by || by == DecidedBy::commands;
    if (changed.changes.empty() && is_decided) {  // a repeated request waits for the pages of the first one
        WHEELYARD_TRY(parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(changed.serial, catalog.last_serial());
            return {};
        }));
        changed.tables = now.index_tables;
        return changed;
    }
    WHEELYARD_ASSIGN(changed.serial, commit(std::move(next), changed.changes, by, caller.name));
    decided_by_ = by;
    for (const IndexChange& change : changed.changes)
        io::log_info("indexes.applied",
                     {{"by", caller.name}, {"index", change.index}, {"change", change.text()}});
    return changed;
}

base::Result<catalog::Serial> IndexApply::commit(RegistryConfig next, const std::vector<IndexChange>& changes,
                                                 DecidedBy by, const std::string& actor) {
    WHEELYARD_TRY(parts_.config.check_room());
    if (next.has_private()) WHEELYARD_TRY(close_store_to_others(next, parts_.store));
    const catalog::Cause cause{.actor = actor, .reason = {}, .time = parts_.clock.now()};
    const std::string list = render_index_list({by, next.index_tables});
    catalog::Serial committed = 0;
    std::vector<std::string> moving;
    const auto record = [&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(const catalog::Inheritance known, catalog.inheritance(catalog::Readers::any));
        WHEELYARD_TRY(check_created(next, changes, known));
        moving = indexes_with_other_readers(next, known);
        WHEELYARD_TRY(catalog.set_index_rules(index_rules(next), cause, reasons_of(changes), list));
        WHEELYARD_ASSIGN(committed, catalog.last_serial());
        return {};
    };
    const auto held = parts_.config.hold();
    WHEELYARD_TRY(blobs::with_reserve(next.room(), [&] { return parts_.writer.run(record); }));
    // After the rules are durable: nothing is accepted for an index that a crash would forget to keep private.
    put_in_force(std::move(next), moving, committed);
    return committed;
}

// The caller has the configuration's hold().
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
    const RegistryConfig& now = parts_.config.now();
    WHEELYARD_ASSIGN(RegistryConfig next, with_indexes(now, wanted.tables));
    const std::vector<IndexChange> changes = list_index_changes(now, next);
    if (!changes.empty()) {
        WHEELYARD_TRY(parts_.config.check_room());
        if (next.has_private()) WHEELYARD_TRY(close_store_to_others(next, parts_.store));
        WHEELYARD_ASSIGN(const catalog::Serial committed, reader.last_serial());
        std::vector<std::string> moving = next.index_names();
        std::erase_if(moving, [&](const std::string& name) {
            return now.find_index(name) == nullptr || now.is_private(name) == next.is_private(name);
        });
        const auto held = parts_.config.hold();
        put_in_force(std::move(next), moving, committed);
        for (const IndexChange& change : changes)
            io::log_info("indexes.adopted", {{"index", change.index}, {"change", change.text()}});
    }
    decided_by_ = wanted.decided_by;
    adopted_ = std::move(list);
    return {};
}

// The file says what it always said, or somebody changed it; where commands decide, neither may undo what they did.
base::Status IndexApply::apply_file(const std::string& actor) {
    const RegistryConfig& now = parts_.config.now();
    WHEELYARD_ASSIGN(const RegistryConfig wanted, read_config(now.file));
    WHEELYARD_TRY(check_same_store(now, wanted));
    if (const auto waiting = settings_that_wait(now, wanted); !waiting.empty())
        io::log_warn("serve.restart_needed",
                     {{"keys", base::join(waiting, ", ")}, {"file", now.file.string()}});
    if (decided_by() == DecidedBy::file && !now.is_of_several()) {
        WHEELYARD_ASSIGN(const IndexesChanged changed,
                         change({.kind = IndexEdit::Kind::apply, .index = {}, .keys = wanted.index_tables},
                                {actor, true}, false));
        return parts_.pages.wait_until_visible(changed.serial, parts_.config.now().server.page_wait_ms);
    }
    if (list_index_changes(now, wanted).empty()) return {};
    return base::fail(now.is_of_several() ? "index.decided_by_nodes" : "index.decided_by_commands",
                      now.is_of_several() ? "The file has other indexes than the nodes have in common"
                                          : "Commands have changed the indexes since the file was applied",
                      now.file.string(),
                      "`wheelyard-registry apply` shows the difference and applies the file");
}

void IndexApply::on_signal(const std::string& actor) {
    if (const auto done = apply_file(actor); !done)
        io::log_error("indexes.not_applied", {{"by", actor}, {"error", done.error().text()}});
}

}  // namespace wheelyard::registry
