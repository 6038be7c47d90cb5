// The store of the wheels as a server uses it: whether it is its catalog's, which one it is, and how far the catalog has come.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/config/config.hpp"
#include "registry/database/store.hpp"
#include "registry/lifecycle/store_identity.hpp"

namespace wheelyard::registry {

// Far below the least grace of gc (lifecycle/store_identity.hpp).
inline constexpr std::int64_t note_store_ms = 60'000;

// One thread at a time, but for is_of_another() and has_other_history().
class OwnStore {
  public:
    // "store.of_another", "store.identity". A server starts, and shows its pages, while the store does not answer.
    [[nodiscard]] static base::Result<std::unique_ptr<OwnStore>> open(const database::Store& store,
                                                                      const RegistryConfig& config,
                                                                      const blobs::BlobStore& blobs);
    // "8f0c… s3://farm": the same for all who use this store. Empty: it has not answered yet.
    [[nodiscard]] const std::string& name() const { return name_; }
    // Whether the store of name() answers here; without a name, one of this catalog.
    [[nodiscard]] bool is_there() const;
    // Notes the newest event; logs why it is not noted, once.
    base::Status note();
    [[nodiscard]] bool is_of_another() const { return is_of_another_; }
    // "store.other_history" at the last note().
    [[nodiscard]] bool has_other_history() const { return has_other_history_; }

  private:
    OwnStore(std::unique_ptr<catalog::Catalog> catalog, const RegistryConfig& config,
             const blobs::BlobStore& blobs);
    const std::unique_ptr<catalog::Catalog> catalog_;
    const base::SystemClock clock_;
    const lifecycle::LifecycleParts parts_;
    std::string name_;
    std::string why_not_noted_;
    std::atomic<bool> is_of_another_ = false;
    std::atomic<bool> has_other_history_ = false;
};

}  // namespace wheelyard::registry
