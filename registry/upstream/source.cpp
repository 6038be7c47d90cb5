#include "registry/upstream/source.hpp"

#include <algorithm>
#include <utility>

#include "registry/upstream/offer.hpp"

namespace wheelyard::registry {
namespace {

// Empty fields: `name` is not the cache of an upstream.
Candidate find_upstream(const RegistryConfig& config, const std::string& name) {
    for (const IndexConfig& index : config.indexes) {
        for (const UpstreamConfig& upstream : index.upstreams)
            if (upstream.cache_index == name) return {.upstream = &upstream, .index = &index};
    }
    return {};
}

std::vector<std::string> indexes_that_show(const catalog::Inheritance& inheritance,
                                           const std::vector<std::string>& indexes,
                                           const std::string& cache_index) {
    std::vector<std::string> shown_by;
    for (const std::string& index : indexes) {
        const std::vector<std::string> order = inheritance.order(index);
        if (index != cache_index && std::find(order.begin(), order.end(), cache_index) != order.end())
            shown_by.push_back(index);
    }
    return shown_by;
}

}  // namespace

base::Result<Source> find_source(const RegistryConfig& config, const catalog::Inheritance& inheritance,
                                 const catalog::Catalog& catalog, const std::string& index,
                                 const std::string& project) {
    Source source;
    const std::vector<std::string> order = inheritance.order(index);
    for (const std::string& name : order) {
        Candidate candidate = find_upstream(config, name);
        SourceStep step{.index = name};
        WHEELYARD_ASSIGN(const auto row, catalog.project(name, project));
        step.has = row.has_value();
        // The row may be there for the status alone, which does not make an upstream the supplier.
        if (row && candidate.upstream != nullptr && row->status != catalog::ProjectStatus::active) {
            WHEELYARD_ASSIGN(const auto files, catalog.files(name, project));
            step.has = !files.empty();
        }
        step.owns = inheritance.owns(name, project);
        step.is_upstream = candidate.upstream != nullptr;
        step.is_permitted = step.is_upstream && is_permitted(*candidate.upstream, project);
        source.steps.push_back(step);
        if (!step.is_upstream && (step.has || step.owns)) {
            source.kind = step.has ? SourceKind::index : SourceKind::owned;
            source.index = name;
            return source;
        }
        if (!step.is_permitted) continue;
        candidate.has_files = step.has;
        candidate.shown_by = indexes_that_show(inheritance, order, name);
        source.candidates.push_back(candidate);
    }
    if (!source.candidates.empty()) source.kind = SourceKind::upstream;
    return source;
}

bool has_files_of(const RegistryConfig& config, const std::string& name) {
    return config.find_index(name) != nullptr || find_upstream(config, name).upstream != nullptr;
}

bool has_cache_limit(const RegistryConfig& config) {
    return std::any_of(config.indexes.begin(), config.indexes.end(), [](const IndexConfig& index) {
        return std::any_of(index.upstreams.begin(), index.upstreams.end(),
                           [](const UpstreamConfig& upstream) { return upstream.max_cache_bytes > 0; });
    });
}

bool has_upstreams(const RegistryConfig& config, const catalog::Inheritance& inheritance,
                   const std::string& index) {
    const auto order = inheritance.order(index);
    return std::any_of(order.begin(), order.end(), [&](const std::string& name) {
        return find_upstream(config, name).upstream != nullptr;
    });
}

}  // namespace wheelyard::registry
