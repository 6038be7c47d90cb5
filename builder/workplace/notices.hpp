// The notices of a tick for the site's [notify] command.
#pragma once

#include <string>
#include <vector>

#include "builder/workplace/workplace.hpp"
#include "lib/notify/notify.hpp"

namespace wheelyard::builder {

[[nodiscard]] notify::Settings notify_settings(const Site& site);
// Pure. Every sentence passes hide_secrets().
[[nodiscard]] std::vector<notify::Notice> notices_of(const TickReport& report,
                                                     const std::vector<Attempt>& attempts,
                                                     const std::vector<std::string>& secrets,
                                                     base::UnixMicros now);
// Tells them. What goes wrong is in the result and no failure of the tick.
[[nodiscard]] base::Status notify_after_tick(Workplace& place, const TickReport& report);

}  // namespace wheelyard::builder
