#include "registry/indexes/index_apply.hpp"

#include <system_error>
#include <utility>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/log.hpp"
#include "lib/wire/problem.hpp"
#include "registry/config/index_changes.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/config/index_tables.hpp"
#include "registry/indexes/index_request.hpp"

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
    for (const char* folder :
         {"blobs", "upstream", "prefetch", "sites", "resumable", "staging", "damaged", "torch"})
        all.push_back(config.store / folder);
    for (const fs::path& each : all) {
        std::error_code error;
        fs::permissions(each, others, fs::perm_options::remove, error);
        if (error && error != std::errc::no_such_file_or_directory)
            return base::fail_errno("chmod", each.native(), error.value());
    }
    return {};
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

base::Result<IndexesChanged> IndexApply::change(const IndexEdit& edit, const std::string& actor,
                                                bool dry_run) {
    return change_to({.choose = [&edit](const io::Json& now) { return edit_tables(now, edit); },
                      .check = check_upstream_places,
                      .dry_run = dry_run},
                     actor);
}

base::Result<IndexesChanged> IndexApply::change_to(const Change& wanted, const std::string& actor) {
    const std::lock_guard lock(mutex_);
    if (!is_open_)
        return base::fail_as(base::ErrorKind::busy, base::Recovery::retry,
                             {"index.starting", "The server is starting", {}, "try again in a moment"});
    const RegistryConfig& now = parts_.config.now();
    WHEELYARD_ASSIGN(const io::Json tables, wanted.choose(now.index_tables));
    WHEELYARD_ASSIGN(RegistryConfig next, with_indexes(now, tables));
    IndexesChanged changed;
    changed.changes = list_index_changes(now, next);
    if (wanted.check) WHEELYARD_TRY(wanted.check(now, next));
    changed.tables = tables;
    if (wanted.dry_run) return changed;
    const bool is_decided = decided_by_ == wanted.by || wanted.by == DecidedBy::commands;
    if (changed.changes.empty() && is_decided) {  // a repeated request waits for the pages of the first one
        WHEELYARD_TRY(parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
            WHEELYARD_ASSIGN(changed.serial, catalog.last_serial());
            return {};
        }));
        changed.tables = now.index_tables;
        return changed;
    }
    WHEELYARD_ASSIGN(changed.serial, commit(std::move(next), changed.changes, wanted.by, actor));
    decided_by_ = wanted.by;
    for (const IndexChange& change : changed.changes)
        io::log_info("indexes.applied", {{"by", actor}, {"index", change.index}, {"change", change.text()}});
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
        parts_.pages.call_once_visible(committed,
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

base::Status IndexApply::wait_for_pages(const base::Result<IndexesChanged>& changed) {
    if (!changed) return base::fail(changed.error());
    return parts_.pages.wait_until_visible(changed->serial, parts_.config.now().server.page_wait_ms);
}

// The file says what it always said, or somebody changed it; where commands decide, neither may undo what they did.
base::Status IndexApply::apply_file(const std::string& actor) {
    const RegistryConfig& now = parts_.config.now();
    WHEELYARD_ASSIGN(const RegistryConfig wanted, read_config(now.file));
    WHEELYARD_TRY(check_same_store(now, wanted));
    if (const auto waiting = settings_that_wait(now, wanted); !waiting.empty())
        io::log_warn("serve.restart_needed",
                     {{"keys", base::join(waiting, ", ")}, {"file", now.file.string()}});
    if (decided_by() == DecidedBy::file) {
        const auto choose = [&wanted](const io::Json&) -> base::Result<io::Json> {
            return wanted.index_tables;
        };
        return wait_for_pages(change_to({.choose = choose, .by = DecidedBy::file}, actor));
    }
    if (list_index_changes(now, wanted).empty()) return {};
    return base::fail("index.decided_by_commands",
                      "Commands have changed the indexes since the file was applied", now.file.string(),
                      "`wheelyard-registry apply` shows the difference and applies the file");
}

void IndexApply::on_signal(const std::string& actor) {
    const std::filesystem::path& store = parts_.config.now().store;
    const auto request = take_request(store);
    base::Status done;
    if (!request) {
        done = base::fail(request.error());
    } else if (!*request) {
        done = apply_file(actor);
    } else {
        const IndexRequest& wanted = **request;
        const auto choose = [&wanted](const io::Json& now) -> base::Result<io::Json> {
            if (wanted.before == revision_of(now)) return wanted.wanted.tables;
            return wire::fail("index.changed", "The indexes have changed in the meantime", {},
                              "repeat the command: it shows the difference", base::Recovery::person);
        };
        done = wait_for_pages(change_to({.choose = choose, .by = wanted.wanted.decided_by}, actor));
    }
    if (!done) io::log_error("indexes.not_applied", {{"by", actor}, {"error", done.error().text()}});
    if (!request || !*request) return;
    if (const auto noted = answer_request(store, (*request)->id, done ? "" : done.error().text()); !noted)
        io::log_error("indexes.not_noted", {{"error", noted.error().text()}});
}

}  // namespace wheelyard::registry
