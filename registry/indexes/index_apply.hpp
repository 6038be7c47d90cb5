// Changes the indexes of the running server (docs/explanation/decisions/0017): every wanted change or none, from the API, from
// a command on this machine, or from the configuration file at SIGHUP.
//
//     wanted tables ─► check ─► rules, list and audit log, one transaction ─► snapshot ─► upstreams, server ─► pages
//
// A crash before the transaction leaves the old state, one after it the new.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "registry/api/index_api.hpp"
#include "registry/commit/publishing.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/live_config.hpp"
#include "registry/database/store.hpp"
#include "registry/indexes/index_moves.hpp"
#include "registry/server/server.hpp"
#include "registry/store/index_list.hpp"
#include "registry/upstream/upstreams.hpp"

namespace wheelyard::registry {

// The databases and folders with names of private indexes; the published tree stays open, a web server may read it.
[[nodiscard]] base::Status close_store_to_others(const RegistryConfig& config, const database::Store& store);

// What differs from the list in force, for the audit log; empty in a new store.
[[nodiscard]] std::map<std::string, std::string> reasons_since(const std::optional<IndexList>& list,
                                                               const RegistryConfig& wanted);

// A file without `read = "token"` may be older than the command that closed the index: those that it would open although
// nobody named them. Empty where the file decides already.
[[nodiscard]] std::vector<std::string> opened_by_file(const RegistryConfig& now, DecidedBy decided_by,
                                                      const RegistryConfig& wanted, const IndexEdit& edit);
// Who decides the list after the edit.
[[nodiscard]] DecidedBy decided_by_after(const IndexEdit& edit);
// The error of such a change, "index.opened".
[[nodiscard]] base::Status check_none_is_opened(const IndexesChanged& changed);

// Every referenced object outlives the IndexApply.
struct ApplyParts {
    LiveConfig& config;
    const database::Store& store;
    Writer& writer;
    PublishQueue& pages;
    Upstreams& upstreams;
    std::shared_ptr<IndexMoves> moves;
    const base::Clock& clock;
    DecidedBy decided_by = DecidedBy::file;  // at the start
};

class IndexApply final : public IndexService {
  public:
    explicit IndexApply(const ApplyParts& parts) : parts_(parts), decided_by_(parts.decided_by) {}
    // Before this, every change is refused with "index.starting": the server does not run yet.
    void open();

    [[nodiscard]] base::Result<IndexesChanged> change(const IndexEdit& edit, const IndexCaller& caller,
                                                      bool dry_run) override;
    // Another node of the registry may have changed the indexes: those in force become the ones of the catalog. On a thread
    // that does not hold the configuration, before the pages that show the change are published.
    [[nodiscard]] base::Status adopt(const catalog::Catalog& reader);
    [[nodiscard]] DecidedBy decided_by() const;
    [[nodiscard]] std::string_view decided_by_word() const override { return word_of(decided_by()); }
    // SIGHUP from `actor`: applies the file if the file decides. Logs what it did and waits for the pages.
    void on_signal(const std::string& actor);

  private:
    [[nodiscard]] base::Result<catalog::Serial> commit(RegistryConfig next,
                                                       const std::vector<IndexChange>& changes, DecidedBy by,
                                                       const std::string& actor);
    void put_in_force(RegistryConfig next, const std::vector<std::string>& moving, catalog::Serial committed);
    [[nodiscard]] base::Status apply_file(const std::string& actor);

    ApplyParts parts_;
    mutable std::mutex mutex_;  // one change at a time
    DecidedBy decided_by_;
    bool is_open_ = false;
    std::string adopted_;  // the list that adopt() saw last
};

}  // namespace wheelyard::registry
