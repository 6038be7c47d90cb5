// The registry's configuration file; every key is described in docs/reference/registry-config.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/inspect/inspect.hpp"
#include "registry/config/limits.hpp"
#include "registry/server/server.hpp"
#include "registry/tasks/task_store.hpp"

namespace wheelyard::registry {

struct IndexConfig {
    std::string name;   // the first part of its URLs: /<name>/simple/
    std::string title;  // for people; may be empty
    std::uint64_t max_file_bytes = static_cast<std::uint64_t>(default_max_file_mib) * base::mib;
    inspect::Policy policy;
    std::vector<std::string> inherits = {};  // names of indexes whose projects this one shows too, in order
    std::set<std::string> owns = {};         // normalised names that are never taken from those
    std::string staging = {};                // the index that wheels of its tasks go to; empty: itself
};

struct RegistryConfig {
    http::ServerSettings server;  // as far as the file says them: [server]; listen[0] is its `listen`
    std::filesystem::path store;  // absolute, or relative to where the program runs if the file was named so
    tasks::TaskRules tasks;
    std::vector<IndexConfig> indexes;

    [[nodiscard]] std::filesystem::path tasks_file() const { return store / "tasks.sqlite"; }
    [[nodiscard]] std::filesystem::path catalog_file() const { return store / "catalog.sqlite"; }
    [[nodiscard]] std::filesystem::path published() const { return store / "public"; }
    [[nodiscard]] const IndexConfig* find_index(std::string_view name) const;
    [[nodiscard]] std::vector<std::string> index_names() const;
};

// All problems of the file at once, each with line and column ("config.invalid").
[[nodiscard]] base::Result<RegistryConfig> read_config(const std::filesystem::path& file);
[[nodiscard]] base::Result<RegistryConfig> parse_config(std::string_view text,
                                                        const std::filesystem::path& file);

// Empty when `name` may name an index; else what is wrong with it.
[[nodiscard]] std::string index_name_fault(std::string_view name);

// "127.0.0.1:8080" or "[::1]:8080", with "https://" before it for TLS, or "unix:PATH", relative to `folder`.
[[nodiscard]] base::Result<http::ListenPoint> parse_listen(std::string_view text,
                                                           const std::filesystem::path& folder = {});

// The commented file that `init` writes.
[[nodiscard]] std::string_view config_template();

}  // namespace wheelyard::registry
