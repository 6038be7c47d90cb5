// The configuration that a running server uses: an immutable snapshot, replaced as a whole when a changed file is applied.
//
// A snapshot lives as long as the LiveConfig, so requests keep plain pointers into the one that they began with. Each is
// some kilobytes, and applying is rare: `max_config_changes` of them at most.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>

#include "lib/base/result.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

class LiveConfig {
  public:
    explicit LiveConfig(RegistryConfig first);
    LiveConfig(const LiveConfig&) = delete;
    LiveConfig& operator=(const LiveConfig&) = delete;
    [[nodiscard]] const RegistryConfig& now() const { return *now_.load(std::memory_order_acquire); }
    // "config.too_many_changes" before replace() would keep too many snapshots.
    [[nodiscard]] base::Status check_room() const;
    // Only one thread replaces, and it has hold().
    void replace(RegistryConfig next);
    // No publish run sees the catalog's new rules with the old snapshot, nor the other way round: both hold this.
    [[nodiscard]] std::unique_lock<std::mutex> hold() const { return std::unique_lock(publishing_); }

  private:
    mutable std::mutex publishing_;
    std::deque<RegistryConfig> kept_;  // references stay valid
    std::atomic<const RegistryConfig*> now_;
};

// What a part of the registry refers to: the configuration of a running server, or a fixed one. A copy refers to the same.
class ConfigView {
  public:
    ConfigView(const RegistryConfig& fixed) : fixed_(&fixed) {}
    ConfigView(const LiveConfig& live) : live_(&live) {}
    [[nodiscard]] const RegistryConfig& operator*() const {
        return live_ != nullptr ? live_->now() : *fixed_;
    }
    [[nodiscard]] const RegistryConfig* operator->() const { return &**this; }
    operator const RegistryConfig&() const { return **this; }
    [[nodiscard]] std::unique_lock<std::mutex> hold() const {
        return live_ != nullptr ? live_->hold() : std::unique_lock<std::mutex>();
    }

  private:
    const RegistryConfig* fixed_ = nullptr;
    const LiveConfig* live_ = nullptr;
};

}  // namespace wheelyard::registry
