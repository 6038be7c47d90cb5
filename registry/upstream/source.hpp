// Which index supplies a project: the first one in order that has it or owns its name, and only if there is
// none, the upstreams (lib/store/catalog/inheritance.hpp has the order).
#pragma once

#include <string>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "registry/config/config.hpp"

namespace wheelyard::registry {

enum class SourceKind {
    index,     // `index` has the project
    owned,     // `index` owns the name and has no file of it
    upstream,  // one of `candidates` may have it
    nobody,    // no upstream may be asked for it
};

// One step of the decision.
struct SourceStep {
    std::string index;  // an index, or the cache of an upstream
    bool has = false;   // the catalog has the project there; for a cache: files were fetched
    bool owns = false;
    bool is_upstream = false;
    bool is_permitted = false;  // upstream: `allow` and `deny` permit the project
};

struct Candidate {
    const UpstreamConfig* upstream = nullptr;
    const IndexConfig* index = nullptr;  // whose upstream it is
    bool has_files = false;              // some were fetched before
    // The index that was asked, and those that it inherits from, as far as they have this upstream in their
    // order.
    std::vector<std::string> shown_by = {};
};

struct Source {
    SourceKind kind = SourceKind::nobody;
    std::string index = {};
    std::vector<Candidate> candidates = {};  // in order
    std::vector<SourceStep> steps = {};      // up to the one that decided
};

// `project` is normalised. `inheritance` has the configuration's rules: its order counts, also while the
// catalog still has older ones.
[[nodiscard]] base::Result<Source> find_source(const RegistryConfig& config,
                                               const catalog::Inheritance& inheritance,
                                               const catalog::Catalog& catalog, const std::string& index,
                                               const std::string& project);

// Says whether this is an index of the configuration or the cache of an upstream: administrators yank,
// quarantine, delete and promote files of both.
[[nodiscard]] bool has_files_of(const RegistryConfig& config, const std::string& name);

// Says whether any upstream's cache has a limit.
[[nodiscard]] bool has_cache_limit(const RegistryConfig& config);

// Says whether projects of an upstream can be shown by `index`.
[[nodiscard]] bool has_upstreams(const RegistryConfig& config, const catalog::Inheritance& inheritance,
                                 const std::string& index);

}  // namespace wheelyard::registry
