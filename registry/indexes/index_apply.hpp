// Applies the configuration file to the running server (docs/explanation/decisions/0017, 0041), for `apply`
// and at SIGHUP: every change of its indexes or none.
//
//     tables ─► check ─► rules, list and audit log, one transaction ─► snapshot ─► upstreams, server ─► pages
//
// A crash before the transaction leaves the old state, one after it the new.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/store/commit/publishing.hpp"
#include "lib/store/commit/writer.hpp"
#include "lib/store/store.hpp"
#include "registry/api/index_api.hpp"
#include "registry/config/live_config.hpp"
#include "registry/indexes/index_moves.hpp"
#include "registry/server/server.hpp"
#include "registry/store/index_list.hpp"
#include "registry/upstream/upstreams.hpp"

namespace wheelyard::registry {

// The databases and folders with names of private indexes; the published tree stays open, a web server may
// read it.
[[nodiscard]] base::Status close_store_to_others(const RegistryConfig& config, const database::Store& store);

// What differs from the list in force; empty in a new store.
[[nodiscard]] std::vector<IndexChange> changes_since(const std::optional<IndexList>& list,
                                                     const RegistryConfig& wanted);

// What an order changes of the configuration in force. Errors of check_before() and with_indexes(), and, but
// for a dry run, "index.opened": commands of an earlier version closed an index that the file opens without a
// word.
struct PlannedIndexes {
    RegistryConfig next = {};
    IndexesChanged changed = {};
    bool is_needed = false;  // false: the catalog has all that already
};
[[nodiscard]] base::Result<PlannedIndexes> plan_indexes(const IndexOrder& order, const RegistryConfig& now,
                                                        const std::optional<IndexList>& list);
// Writes rules, list and audit log in one transaction. The indexes whose pages have to move to the other
// tree. "index.was_private": a new index would show what a private one of its name left behind.
[[nodiscard]] base::Result<std::vector<std::string>> record_indexes(catalog::Catalog& catalog,
                                                                    const RegistryConfig& wanted,
                                                                    const std::vector<IndexChange>& changes,
                                                                    const catalog::Cause& cause,
                                                                    bool is_of_commands = false);

// Every referenced object outlives the IndexApply.
struct ApplyParts {
    LiveConfig& config;
    const database::Store& store;
    Writer& writer;
    PublishQueue& pages;
    Upstreams& upstreams;
    std::shared_ptr<IndexMoves> moves;
    const base::Clock& clock;
};

class IndexApply final : public IndexService {
  public:
    explicit IndexApply(const ApplyParts& parts) : parts_(parts) {}
    // Before this, every change is refused with "index.starting": the server does not run yet.
    void open();

    [[nodiscard]] base::Result<IndexesChanged> apply(const IndexOrder& order) override;
    // Another node of the registry may have changed the indexes: those in force become the ones of the
    // catalog. On a thread that does not hold the configuration, before the pages that show the change are
    // published.
    [[nodiscard]] base::Status adopt(const catalog::Catalog& reader);
    // SIGHUP from `actor`: applies the file, but for one of several nodes. Logs what it did and waits for the
    // pages.
    void on_signal(const std::string& actor);

  private:
    [[nodiscard]] base::Result<catalog::Serial> commit(RegistryConfig next,
                                                       const std::vector<IndexChange>& changes,
                                                       const std::string& actor);
    void replace_notes(RegistryConfig next);  // with the same indexes
    void put_in_force(RegistryConfig next, const std::vector<std::string>& moving, catalog::Serial committed);
    [[nodiscard]] base::Status apply_file(const std::string& actor);

    ApplyParts parts_;
    mutable std::mutex mutex_;  // one change at a time
    bool is_open_ = false;
    std::string adopted_;  // the list that adopt() saw last
};

}  // namespace wheelyard::registry
