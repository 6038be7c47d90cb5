// What [notify] of registry.toml is told: looked after every minute, in a thread of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "lib/notify/notify.hpp"
#include "lib/status/site_report.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "registry/serve/service_state.hpp"
#include "registry/serve/upkeep/background_task.hpp"

namespace wheelyard::registry {

inline constexpr std::int64_t notices_interval_ms = 60'000;

// What one look found. Of several nodes only the one that writes tells what is the registry's and not the
// node's.
struct Observed {
    base::UnixMicros now = 0;
    bool disk_is_full = false;
    std::vector<status::SiteReport> sites = {};
    std::uint64_t new_alarms = 0;                          // of upstreams, since the look before
    std::optional<base::UnixMicros> certificate_end = {};  // nullopt: none, or it cannot be read
    std::vector<catalog::TokenRow> tokens = {};
    std::vector<catalog::FileRow> quarantined = {};  // since the look before
    std::uint64_t new_lost_histories = 0;            // of this node's pages, since the look before
};
// Pure.
[[nodiscard]] std::vector<notify::Notice> notices_of(const Observed& observed);

class Notices {
  public:
    // Does nothing where the configuration has no command. The arguments outlive the object.
    Notices(const ServiceParts& parts, Writer& writer, std::int64_t interval_ms = notices_interval_ms);

  private:
    void look(const base::Clock& clock);
    [[nodiscard]] base::Result<Observed> observe(base::UnixMicros now);
    const ServiceParts parts_;
    Writer& writer_;
    std::uint64_t alarms_ = 0;
    std::uint64_t lost_histories_ = 0;
    std::optional<catalog::Serial> seen_;  // events up to here were looked at; nullopt: none of this process
    BackgroundTask task_;                  // last: it uses all of the above
};

}  // namespace wheelyard::registry
