#include "registry/indexes/local_indexes.hpp"

#include <utility>

#include "lib/base/files/file.hpp"
#include "registry/config/index_rules.hpp"
#include "registry/indexes/index_apply.hpp"
#include "registry/store/index_list.hpp"
#include "registry/store/lock.hpp"

namespace wheelyard::registry {
namespace {

base::Result<base::Fd> lock_without_server(const RegistryConfig& settings) {
    WHEELYARD_TRY(base::make_directories(settings.store));
    auto alone = lock_store(settings.store);
    if (alone || alone.error().kind != base::ErrorKind::busy) return alone;
    return base::fail_as(
        base::ErrorKind::busy, base::Recovery::person,
        {"index.elsewhere", "The server of this store has to change its indexes", settings.store.string(),
         "run this command where the server runs (its container, its machine), as its user "
         "or as root, with a program of its version"});
}

// As a start of the server would, but in the name of this user.
base::Status write_list(const RegistryConfig& wanted, const database::Store& store,
                        const IndexesChanged& changed, DecidedBy by, const catalog::Cause& cause) {
    return blobs::with_reserve(wanted.room(), [&]() -> base::Status {
        WHEELYARD_ASSIGN(const auto catalog, store.writer());
        if (wanted.has_private()) WHEELYARD_TRY(close_store_to_others(wanted, store));
        return catalog->set_index_rules(index_rules(wanted), cause, reasons_of(changed.changes),
                                        render_index_list({by, changed.tables}));
    });
}

}  // namespace

base::Result<IndexesChanged> StoreIndexes::change(const IndexEdit& edit, const IndexCaller& caller,
                                                  bool dry_run) {
    base::Fd alone;
    if (!dry_run) {
        WHEELYARD_ASSIGN(alone, lock_without_server(settings_));
    }
    WHEELYARD_ASSIGN(const auto list, read_index_list(store_));
    WHEELYARD_ASSIGN(const RegistryConfig now, config_at_start(settings_, list));
    RegistryConfig before = now;
    if (list) {
        WHEELYARD_ASSIGN(before, with_indexes(settings_, list->tables));
    }
    const DecidedBy by = decided_by_after(edit);
    const DecidedBy decided_by = list ? list->decided_by : DecidedBy::file;
    IndexesChanged changed{.before = revision_of(now.index_tables)};
    WHEELYARD_ASSIGN(changed.tables, edit_tables(now.index_tables, edit));
    WHEELYARD_ASSIGN(const RegistryConfig wanted, with_indexes(settings_, changed.tables));
    changed.changes = list_index_changes(before, wanted);
    changed.opened = opened_by_file(before, decided_by, wanted, edit);
    if (dry_run) return changed;
    WHEELYARD_TRY(check_none_is_opened(changed));
    const bool is_decided = by == DecidedBy::commands || !list || decided_by == by;
    if (!changed.changes.empty() || !is_decided)
        WHEELYARD_TRY(write_list(wanted, store_, changed, by, {caller.name, {}, clock_.now()}));
    return changed;
}

std::string_view StoreIndexes::decided_by_word() const {
    const auto list = read_index_list(store_);
    return word_of(list && *list ? (*list)->decided_by : DecidedBy::file);
}

}  // namespace wheelyard::registry
