// The configuration that a running server uses: an immutable snapshot, replaced as a whole when a changed
// file is applied.
//
// Each user of one holds it: a request from its head to its reply, a round of a background thread, a publish
// run. It ends with the last of them.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "lib/base/check.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

using SharedConfig = std::shared_ptr<const RegistryConfig>;

// Thread-safe.
class LiveConfig {
  public:
    explicit LiveConfig(RegistryConfig first);
    LiveConfig(const LiveConfig&) = delete;
    LiveConfig& operator=(const LiveConfig&) = delete;
    [[nodiscard]] SharedConfig now() const;
    // Only one thread replaces, and it has lock_runs().
    void replace(RegistryConfig next);
    // No publish run sees the catalog's new rules with the old snapshot, nor the other way round: both have
    // this.
    [[nodiscard]] std::unique_lock<std::mutex> lock_runs() const { return std::unique_lock(publishing_); }

  private:
    mutable std::mutex publishing_;
    mutable std::mutex mutex_;  // guards now_
    SharedConfig now_;
};

// What a part of the registry refers to: the configuration of a running server, or a fixed one. A copy refers
// to the same.
class ConfigView {
  public:
    ConfigView(const RegistryConfig& fixed) : held_(std::shared_ptr<void>(), &fixed) {}
    ConfigView(const LiveConfig& live) : live_(&live) {}
    // The snapshot of now: what a reference or a pointer into it needs until it ends. Only what this returns,
    // and what is fixed, can be read.
    [[nodiscard]] ConfigView held() const { return live_ != nullptr ? ConfigView(live_->now()) : *this; }
    [[nodiscard]] const SharedConfig& shared() const {
        WHEELYARD_CHECK(held_ != nullptr);
        return held_;
    }
    [[nodiscard]] const RegistryConfig& operator*() const { return *shared(); }
    [[nodiscard]] const RegistryConfig* operator->() const { return &**this; }
    operator const RegistryConfig&() const { return **this; }
    [[nodiscard]] std::unique_lock<std::mutex> lock_runs() const {
        return live_ != nullptr ? live_->lock_runs() : std::unique_lock<std::mutex>();
    }

  private:
    explicit ConfigView(SharedConfig held) : held_(std::move(held)) {}
    const LiveConfig* live_ = nullptr;
    SharedConfig held_;
};

}  // namespace wheelyard::registry
