#include "registry/indexes/local_indexes.hpp"

#include "lib/base/files/file.hpp"
#include "registry/config/index_tables.hpp"
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

}  // namespace

base::Result<IndexesChanged> StoreIndexes::apply(const IndexOrder& order) {
    base::Fd alone;
    if (!order.dry_run) {
        WHEELYARD_ASSIGN(alone, lock_without_server(settings_));
    }
    WHEELYARD_ASSIGN(const auto list, read_index_list(store_));
    WHEELYARD_ASSIGN(const RegistryConfig before,
                     with_indexes(settings_, list ? list->tables : settings_.index_tables));
    WHEELYARD_ASSIGN(PlannedIndexes planned, plan_indexes(order, before, list));
    if (order.dry_run || !planned.is_needed) return std::move(planned.changed);
    const RegistryConfig& next = planned.next;
    WHEELYARD_TRY(blobs::with_reserve(next.room(), [&]() -> base::Status {
        WHEELYARD_ASSIGN(const auto catalog, store_.writer());
        if (next.has_private()) WHEELYARD_TRY(close_store_to_others(next, store_));
        WHEELYARD_TRY(
            record_indexes(*catalog, next, planned.changed.changes, {order.actor, {}, clock_.now()}));
        return {};
    }));
    return std::move(planned.changed);
}

}  // namespace wheelyard::registry
