#include "registry/config/live_config.hpp"

#include <utility>

namespace wheelyard::registry {

LiveConfig::LiveConfig(RegistryConfig first) : now_(std::make_shared<RegistryConfig>(std::move(first))) {}

SharedConfig LiveConfig::now() const {
    const std::lock_guard lock(mutex_);
    return now_;
}

void LiveConfig::replace(RegistryConfig next) {
    SharedConfig other = std::make_shared<RegistryConfig>(std::move(next));
    const std::lock_guard lock(mutex_);
    now_.swap(other);
}

}  // namespace wheelyard::registry
