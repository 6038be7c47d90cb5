// The store of the wheels as a server uses it: whether it is its catalog's, which one it is, and how far the
// catalog has come.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/lifecycle/store_identity.hpp"
#include "lib/store/store.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

// Far below the least grace of gc (lifecycle/store_identity.hpp).
inline constexpr std::int64_t note_store_ms = 60'000;

// One thread at a time, but for is_of_another() and has_other_history().
class OwnStore {
  public:
    // "store.of_another", "store.document_gone", "store.identity". A server starts, and shows its pages, while
    // the store does not answer.
    [[nodiscard]] static base::Result<std::unique_ptr<OwnStore>> open(const database::Store& store,
                                                                      const RegistryConfig& config,
                                                                      const blobs::BlobStore& blobs);
    // "8f0c… s3://farm": the same for all who use this store. Empty: it has not answered yet.
    [[nodiscard]] const std::string& name() const { return name_; }
    // Says whether the store of name() answers here; without a name, one of this catalog.
    [[nodiscard]] bool is_there() const;
    // Notes the newest event; logs why it is not noted, once.
    base::Status note() {
        return note_if(name_.empty() ? lifecycle::EmptyStore::may_be_away : lifecycle::EmptyStore::was_there);
    }
    [[nodiscard]] bool is_of_another() const { return is_of_another_; }
    // "store.other_history" at the last note().
    [[nodiscard]] bool has_other_history() const { return has_other_history_; }

  private:
    OwnStore(std::unique_ptr<catalog::Catalog> catalog, const RegistryConfig& config,
             const blobs::BlobStore& blobs);
    base::Status note_if(lifecycle::EmptyStore empty);
    const std::unique_ptr<catalog::Catalog> catalog_;
    const base::SystemClock clock_;
    const lifecycle::LifecycleParts parts_;
    std::string name_;
    std::string why_not_noted_;
    std::atomic<bool> is_of_another_ = false;
    std::atomic<bool> has_other_history_ = false;
};

// The trees of a node after the database lost events that they show: they are set aside, made again, and
// compared, so that an operator knows whose uploads are missing.

struct NodeTrees {
    explicit NodeTrees(const RegistryConfig& config);

    std::filesystem::path store, open, with_token;
    std::vector<std::string> fetched;  // indexes whose files come from an upstream again
};

// Says whether an earlier process ended before list_lost_files() did.
[[nodiscard]] bool are_trees_aside(const NodeTrees& trees);
// A server that is killed after this finds no tree, and makes one. One that is aside already stays, and the
// new one goes.
[[nodiscard]] base::Status set_trees_aside(const NodeTrees& trees, const blobs::BlobStore& blobs);
// Stores what the trees set aside have and the store of the wheels lacks; appends what they have and the new
// trees lack to STORE/lost-files.tsv, lines of index, SHA-256 and filename; then removes them. After an error
// they stay.
[[nodiscard]] base::Status list_lost_files(const NodeTrees& trees, const blobs::BlobStore& blobs);

}  // namespace wheelyard::registry
