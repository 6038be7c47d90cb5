// gc.
#include "lib/store/lifecycle/perform.hpp"

#include <utility>
#include <vector>

#include "lib/store/blobs/store.hpp"
#include "lib/store/lifecycle/store_identity.hpp"

namespace wheelyard::lifecycle {
namespace {

constexpr std::uint64_t steps = 256;                  // two digits
constexpr std::size_t blobs_forgotten_at_once = 500;  // hashes in one event, rows in one transaction

class Collection {
  public:
    Collection(const LifecycleParts& place, const Action& action, const std::string& actor)
        : place_(place), action_(action), actor_(actor), before_(place.clock.now() - action.grace_ms * 1000) {
        done_.dry_run = action.dry_run;
    }

    base::Result<Done> run() {
        WHEELYARD_TRY(blobs::for_each_two_digits([&](const std::string& digits) -> base::Status {
            if (place_.step) WHEELYARD_TRY(place_.step(steps_done_++, steps));
            return collect_some(digits);
        }));
        WHEELYARD_TRY(flush());
        if (!action_.dry_run) WHEELYARD_TRY(place_.blobs.drop_unfinished());
        return std::move(done_);
    }

  private:
    base::Status collect_some(std::string_view two_digits) {
        WHEELYARD_ASSIGN(const auto blobs, place_.blobs.list(two_digits));
        std::vector<blobs::StoredBlob> old;
        for (const auto& blob : blobs) {
            if (blob.stored < before_) old.push_back(blob);
        }
        if (old.empty()) return {};
        WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
            for (auto& blob : old) {
                WHEELYARD_ASSIGN(const auto row, catalog.blob(blob.sha256));
                const bool is_free = !row || (!row->referenced && row->unreferenced_since < before_);
                if (is_free) candidates_.push_back(std::move(blob));
            }
            return {};
        }));
        return candidates_.size() < blobs_forgotten_at_once ? base::Status() : flush();
    }

    base::Status flush() {
        std::vector<std::string> hashes;
        for (const auto& blob : candidates_)
            hashes.push_back(blob.sha256);
        if (!action_.dry_run && !hashes.empty()) {
            const std::string reason = action_.reason.empty() ? std::string("gc") : action_.reason;
            WHEELYARD_TRY(place_.on_catalog([&](catalog::Catalog& catalog) -> base::Status {
                WHEELYARD_ASSIGN(hashes, catalog.forget_blobs(hashes, {actor_, reason, place_.clock.now()}));
                return {};
            }));
        }
        WHEELYARD_TRY(remove(hashes));
        candidates_.clear();
        return {};
    }

    // `hashes` is a subset of the candidates in the same order.
    base::Status remove(const std::vector<std::string>& hashes) {
        auto wanted = hashes.begin();
        for (const auto& blob : candidates_) {
            if (wanted == hashes.end()) break;
            if (blob.sha256 != *wanted) continue;
            ++wanted;
            if (!action_.dry_run) {
                WHEELYARD_ASSIGN(const bool gone, place_.blobs.remove_if_stored_before(blob.sha256, before_));
                if (!gone) continue;
                done_.changed = true;
            }
            ++done_.blobs;
            done_.bytes += blob.size_bytes;
        }
        return {};
    }

    const LifecycleParts& place_;
    const Action& action_;
    const std::string& actor_;
    const base::UnixMicros before_;
    std::vector<blobs::StoredBlob> candidates_;
    Done done_;
    std::uint64_t steps_done_ = 0;
};

}  // namespace

base::Result<Done> collect(const LifecycleParts& place, const Action& action, const std::string& actor) {
    // To another registry, or another copy of its catalog, these are no orphans.
    WHEELYARD_ASSIGN(const StoreClaim claim, claim_store(place));
    WHEELYARD_TRY(claim.history);
    return Collection(place, action, actor).run();
}

}  // namespace wheelyard::lifecycle
