#include "registry/config/live_config.hpp"

#include <string>
#include <utility>

#include "lib/wire/problem.hpp"

namespace wheelyard::registry {

LiveConfig::LiveConfig(RegistryConfig first) : now_(&kept_.emplace_back(std::move(first))) {}

base::Status LiveConfig::check_room() const {
    if (kept_.size() < max_config_changes) return {};
    return wire::fail("config.too_many_changes", "The server has applied too many changes since its start",
                      std::to_string(kept_.size()), "restart the server", base::Recovery::person);
}

void LiveConfig::replace(RegistryConfig next) {
    now_.store(&kept_.emplace_back(std::move(next)), std::memory_order_release);
}

}  // namespace wheelyard::registry
