// Changes the indexes of the running server (docs/explanation/decisions/0017): every wanted change or none, from the
// configuration file, from a command on this machine, or from the API.
//
//     wanted tables ─► check ─► rules, list and audit log, one transaction ─► snapshot ─► upstreams, server ─► pages
//
// A crash before the transaction leaves the old state, one after it the new.
#pragma once

#include <filesystem>
#include <functional>
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

    [[nodiscard]] base::Result<IndexesChanged> change(const IndexEdit& edit, const std::string& actor,
                                                      bool dry_run) override;
    // Another node of the registry may have changed the indexes: those in force become the ones of the catalog. On a thread
    // that does not hold the configuration, before the pages that show the change are published.
    [[nodiscard]] base::Status adopt(const catalog::Catalog& reader);
    [[nodiscard]] DecidedBy decided_by() const;
    [[nodiscard]] std::string_view decided_by_word() const override { return word_of(decided_by()); }
    // SIGHUP from `actor`: answers the request of a command; without one, applies the file if the file decides. Logs
    // what it did and waits for the pages.
    void on_signal(const std::string& actor);

  private:
    // The wanted tables, from those in force.
    using Choose = std::function<base::Result<io::Json>(const io::Json& now)>;
    using Check = std::function<base::Status(const RegistryConfig& now, const RegistryConfig& wanted)>;
    struct Change {
        Choose choose;
        DecidedBy by = DecidedBy::commands;
        Check check = {};
        bool dry_run = false;
    };
    // After an error nothing has changed.
    [[nodiscard]] base::Result<IndexesChanged> change_to(const Change& wanted, const std::string& actor);
    [[nodiscard]] base::Result<catalog::Serial> commit(RegistryConfig next,
                                                       const std::vector<IndexChange>& changes, DecidedBy by,
                                                       const std::string& actor);
    void put_in_force(RegistryConfig next, const std::vector<std::string>& moving, catalog::Serial committed);
    [[nodiscard]] base::Status apply_file(const std::string& actor);
    [[nodiscard]] base::Status wait_for_pages(const base::Result<IndexesChanged>& changed);

    ApplyParts parts_;
    mutable std::mutex mutex_;  // one change at a time
    DecidedBy decided_by_;
    bool is_open_ = false;
    std::string adopted_;  // the list that adopt() saw last
};

}  // namespace wheelyard::registry
