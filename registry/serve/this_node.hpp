// This `serve` among the others over its database: its lease, its role, and what they mean for the publisher.
// In a registry of one process it always answers and always writes, and nothing waits.
//
//     commit of n ─► own pages show n ─► every node with a live lease shows n ─► 200
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/nodes/node_lease.hpp"
#include "lib/store/nodes/writer_role.hpp"
#include "lib/store/store.hpp"
#include "registry/config/live_config.hpp"
#include "registry/http/metrics.hpp"
#include "registry/serve/own_store.hpp"
#include "registry/serve/upkeep/background_task.hpp"
#include "registry/serve/write_forward.hpp"

namespace wheelyard::registry {

class ThisNode {
  public:
    // Opens connections of its own; `store`, `live` and `blobs` outlive it. `signing_key`: the ID of the
    // registry's, or "none". Errors of OwnStore::open().
    [[nodiscard]] static base::Result<std::unique_ptr<ThisNode>> open(const database::Store& store,
                                                                      const LiveConfig& live,
                                                                      const blobs::BlobStore& blobs,
                                                                      const std::string& signing_key);

    // Call before it takes part. nodes/node_board.hpp; a server without an address takes the writer's role
    // here.
    [[nodiscard]] base::Status check_neighbours();

    // The publisher of a server: a tree of another history than the catalog's is made again, since it is only
    // a copy of what the catalog says; what it showed and the catalog lacks is listed (own_store.hpp).
    [[nodiscard]] PublishFunction guard(PublishFunction publish);

    // Called before each publish run, on the publisher's thread, until the object that it returns ends. Not
    // in a registry of one process, whose indexes nobody else changes.
    using BeforePages = std::function<base::Status(const catalog::Catalog& reader)>;
    [[nodiscard]] std::shared_ptr<void> call_before_pages(BeforePages before);

    // Joins the others and takes part until the object ends; `pages` outlives that.
    class Member {
      public:
        Member(ThisNode& node, PublishQueue& pages);
        ~Member();
        Member(const Member&) = delete;
        Member& operator=(const Member&) = delete;

      private:
        ThisNode& node_;
    };

    [[nodiscard]] bool is_alone() const { return board_->is_alone(); }
    [[nodiscard]] bool may_answer() const { return lease_.may_answer(); }
    // While the database does not answer: the value of http::reading_only_field; else empty.
    [[nodiscard]] std::string reading_only() const;
    [[nodiscard]] bool may_write() const { return role_.may_write(); }
    // nullptr: this is the only node, or takes itself for it.
    [[nodiscard]] http::ForwardService* forward() { return has_address() ? &forward_ : nullptr; }
    // Waits until it may answer, for at most `timeout_ms`: a node that cannot join starts, too, and answers
    // 503.
    void wait_joined(std::int64_t timeout_ms) const;
    // Histories that were replaced, since the start.
    [[nodiscard]] std::uint64_t lost_histories() const { return lost_histories_; }
    // "node a: serving, writer, lease 5.3 s"
    [[nodiscard]] std::string text() const;
    // Absent if it takes part as it should. For /readyz.
    [[nodiscard]] std::optional<http::WhyNotReady> why_not_ready() const;
    // For /metrics. None in a registry of one process.
    [[nodiscard]] std::vector<http::Sample> samples() const;

  private:
    ThisNode(const database::Store& store, const LiveConfig& live, const blobs::BlobStore& blobs,
             nodes::SharedSettings shared, std::unique_ptr<OwnStore> own_store,
             std::unique_ptr<nodes::NodeBoard> board, std::unique_ptr<nodes::WriterLock> lock,
             std::unique_ptr<const catalog::Catalog> reader,
             std::unique_ptr<const catalog::Catalog> publishers_reader);
    // One that others cannot reach passes nothing on either, and its pages outlast the database.
    [[nodiscard]] bool has_address() const { return !is_alone() && !config_.address.empty(); }
    [[nodiscard]] nodes::LeaseHooks hooks();
    // Looks for the store of the wheels, which may take as long as a store hangs, and notes how far its
    // catalog is.
    void look_at_store();
    [[nodiscard]] bool sees_blobs() const;
    // Notes, and logs once, in which tables of their files other nodes differ.
    void compare_files();
    [[nodiscard]] std::string differences() const;

    const database::Store& store_;
    const LiveConfig& live_;
    const NodeConfig config_;
    const blobs::BlobStore& blobs_;
    const NodeTrees trees_;
    const std::unique_ptr<OwnStore> own_store_;  // of the thread of `looks_`
    const nodes::SystemNodeClock clock_;
    std::int64_t notes_at_us_ = 0;  // of the thread of `looks_`
    std::atomic<bool> was_store_seen_ = true;
    std::atomic<std::int64_t> looks_since_us_ = 0;  // 0: no look is under way
    const std::unique_ptr<nodes::NodeBoard> board_;
    const std::unique_ptr<nodes::WriterLock> lock_;
    const std::unique_ptr<const catalog::Catalog> reader_;  // of the lease's thread
    const std::unique_ptr<const catalog::Catalog> publishers_reader_;
    std::mutex before_mutex_;  // guards the next two, also while it runs
    BeforePages before_pages_;
    std::string why_not_adopted_;
    PublishQueue* pages_ = nullptr;  // set before the threads start
    std::atomic<std::uint64_t> lost_histories_ = 0;
    std::atomic<bool> is_rebuilding_ = are_trees_aside(trees_);
    nodes::NodeLease lease_;
    nodes::WriterRole role_;
    WriteForward forward_;
    mutable std::mutex differences_mutex_;
    std::string differences_;  // nodes::list_differences()
    // While it is a member.
    std::optional<BackgroundTask> looks_ = {};
    std::optional<BackgroundTask> comparisons_ = {};
};

}  // namespace wheelyard::registry
