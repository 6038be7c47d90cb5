// Which registry a catalog is of, and whether its history is one that was seen before.
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::catalog {

base::Result<EventMark> Catalog::event_at(Serial serial) const {
    if (serial == 0) return EventMark{};
    WHEELYARD_ASSIGN(const auto events, events_after(serial - 1, 1));
    if (events.empty() || events.front().serial != serial) return EventMark{.serial = serial};
    const Event& event = events.front();
    return EventMark{serial, event.time, std::string(event_kind_text(event.kind))};
}

base::Result<HistoryOf> Catalog::compare_history(const EventMark& seen) const {
    WHEELYARD_ASSIGN(const Serial last, last_serial());
    if (seen.serial > last) return HistoryOf::behind;
    if (seen.time == 0) return HistoryOf::same;
    WHEELYARD_ASSIGN(const EventMark here, event_at(seen.serial));
    return here.time == seen.time && here.kind == seen.kind ? HistoryOf::same : HistoryOf::other;
}

base::Status Catalog::renew_registry_id() {
    constexpr std::size_t id_bytes = 16;
    return in_transaction([&]() -> base::Result<bool> {
        WHEELYARD_TRY(write_registry_id(base::encode_hex(base::random_bytes(id_bytes))));
        return true;
    });
}

base::Status Catalog::exclusively(const std::function<base::Status()>& work) {
    return in_transaction([&]() -> base::Result<bool> {
        WHEELYARD_TRY(work());
        return false;
    });
}

}  // namespace wheelyard::catalog
