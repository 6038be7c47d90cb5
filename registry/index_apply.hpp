// Applies a changed configuration file to the running server (SIGHUP, docs/explanation/decisions/0017): every changed index
// or none.
//
//     read, check ─► rules and audit log, one transaction ─► snapshot ─► server ─► pages ─► applied.toml, applied.json
//
// A crash before the transaction leaves the old state, one after it the new: the next start applies the file again.
// Two files in the store are for `wheelyard-registry apply`:
//
//     applied.toml    the text that is in force
//     applied.json    {"format":"wheelyard.applied/1","time_us":…,"sha256":"…","problem":""}, of the last attempt
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "registry/commit/publishing.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/live_config.hpp"
#include "registry/server/server.hpp"

namespace wheelyard::registry {

// Sorted by name. A staging index is for agents and for those who promote its wheels, so it is not advertised; nor is an
// archived one.
[[nodiscard]] std::vector<http::IndexEntry> index_entries(const RegistryConfig& config);

// The databases and folders with names of private indexes; the published tree stays open, a web server may read it.
[[nodiscard]] base::Status close_store_to_others(const RegistryConfig& config);

// Every referenced object outlives the IndexApply.
struct ApplyParts {
    std::filesystem::path file;
    LiveConfig& config;
    Writer& writer;
    PublishQueue& pages;
    http::Server& server;
    const base::Clock& clock;
};

// What differs from the last applied file, for the audit log; empty in a new store.
[[nodiscard]] std::map<std::string, std::string> reasons_since_last_run(const RegistryConfig& config,
                                                                        const std::filesystem::path& file);

class IndexApply {
  public:
    explicit IndexApply(const ApplyParts& parts) : parts_(parts) {}
    // Records the configuration that the server began with.
    [[nodiscard]] base::Status note_start() const;
    // Reads the file and applies it in the name of `actor`. After an error of the file or of the catalog nothing has
    // changed; after "publish.…" all has, and the pages follow.
    void apply(const std::string& actor) const;

  private:
    [[nodiscard]] base::Status change(const RegistryConfig& wanted, const std::string& actor) const;
    [[nodiscard]] base::Status note(const std::string& text, const std::string& problem) const;
    ApplyParts parts_;
};

[[nodiscard]] std::filesystem::path applied_text_file(const RegistryConfig& config);
[[nodiscard]] std::filesystem::path applied_result_file(const RegistryConfig& config);

}  // namespace wheelyard::registry
