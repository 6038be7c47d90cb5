#include "registry/serve/upkeep/cache_limit.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "lib/io/log.hpp"
#include "lib/store/lifecycle/action.hpp"
#include "lib/store/lifecycle/store_identity.hpp"
#include "registry/upstream/page_store.hpp"
#include "registry/upstream/prefetch/kept.hpp"
#include "registry/upstream/source.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::string_view reason = "evicted: the cache is larger than max_cache_mib";

std::string actor_of(const UpstreamConfig& upstream) {
    return "upstream:" + upstream.name;
}

base::Result<std::uint64_t> cached_bytes(const catalog::Catalog& reader, const std::string& cache_index) {
    WHEELYARD_ASSIGN(const auto usage, reader.usage(cache_index));
    std::uint64_t bytes = 0;
    for (const catalog::Usage& of_name : usage)
        bytes += of_name.bytes;
    return bytes;
}

// Only what this upstream's downloads added: nothing else is a copy.
base::Result<std::vector<CachedCopy>> copies_in(const catalog::Catalog& reader,
                                                const UpstreamConfig& upstream, const LastUsed& last_used,
                                                const std::set<std::string>& prefetched) {
    std::vector<CachedCopy> copies;
    WHEELYARD_ASSIGN(const auto projects, reader.projects(upstream.cache_index));
    for (const std::string& project : projects) {
        WHEELYARD_ASSIGN(const auto rows, reader.files(upstream.cache_index, project));
        for (const catalog::FileRow& row : rows) {
            if (row.uploaded_by != actor_of(upstream)) continue;
            copies.push_back({.filename = row.filename,
                              .project = row.project,
                              .sha256 = row.sha256,
                              .size_bytes = row.size_bytes,
                              .fetched = row.upload_time,
                              .last_used = std::max(last_used.day(row.sha256), day_of(row.upload_time)),
                              .is_kept = row.pinned || row.state == catalog::FileState::quarantined ||
                                         prefetched.contains(row.sha256)});
        }
    }
    return copies;
}

// What the upstream no longer lists could not be fetched again.
bool is_listed(PageStore& pages, const UpstreamConfig& upstream, const CachedCopy& copy) {
    const SharedPage page = pages.find(upstream.cache_index, copy.project);
    if (!page || page->is_absent || page->absent_since != 0) return false;
    return std::any_of(page->files.begin(), page->files.end(), [&](const UpstreamFile& file) {
        return file.link.filename == copy.filename && file.link.sha256 == copy.sha256 && !file.is_changed;
    });
}

}  // namespace

CacheLimit::CacheLimit(const CacheLimitParts& parts)
    : parts_(parts), task_(0, parts.pause_ms, [this](const base::Clock& clock) { run_round(clock); }) {}

void CacheLimit::run_round(const base::Clock& clock) {
    if (!parts_.is_mine()) return;
    if (!has_cache_limit(parts_.config.held())) return;
    const base::UnixMicros now = clock.now();
    const auto fail = [](const base::Error& error) {
        io::log_error("upstream.cache_limit_failed", {{"error", error.text()}});
    };
    if (const auto saved = parts_.last_used.save(now); !saved) fail(saved.error());
    const auto reader = parts_.store.reader();
    if (!reader) return fail(reader.error());
    if (const auto looked = look_at_caches(**reader, now); !looked) fail(looked.error());
    if (const auto removed = remove_blobs(**reader, clock); !removed) fail(removed.error());
}

base::Status CacheLimit::look_at_caches(const catalog::Catalog& reader, base::UnixMicros now) {
    const ConfigView config = parts_.config.held();
    for (const IndexConfig& index : config->indexes) {
        for (const UpstreamConfig& upstream : index.upstreams) {
            if (upstream.max_cache_bytes == 0) continue;
            WHEELYARD_ASSIGN(std::uint64_t bytes, cached_bytes(reader, upstream.cache_index));
            if (bytes > upstream.max_cache_bytes) {
                WHEELYARD_TRY(shrink(reader, upstream, bytes, now));
                WHEELYARD_ASSIGN(bytes, cached_bytes(reader, upstream.cache_index));
            }
            const std::lock_guard lock(mutex_);
            cached_[upstream.cache_index] = bytes;
        }
    }
    return {};
}

base::Status CacheLimit::shrink(const catalog::Catalog& reader, const UpstreamConfig& upstream,
                                std::uint64_t bytes, base::UnixMicros now) {
    const ConfigView config = parts_.config.held();
    WHEELYARD_ASSIGN(const auto prefetched, read_kept_hashes(config->store));
    WHEELYARD_ASSIGN(auto copies, copies_in(reader, upstream, parts_.last_used, prefetched));
    PageStore pages(config->store / "upstream");
    for (const CachedCopy& copy : order_of_return(std::move(copies), now)) {
        if (bytes <= upstream.max_cache_bytes || task_.is_stopping()) break;
        if (!is_listed(pages, upstream, copy)) continue;
        WHEELYARD_ASSIGN(const bool is_evicted, evict(upstream, copy, now));
        if (is_evicted) bytes -= copy.size_bytes;
    }
    WHEELYARD_ASSIGN(const catalog::Serial serial, reader.last_serial());
    return parts_.pages.wait_until_visible(serial, config->server.page_wait_ms,
                                           {upstream.cache_index, {}, {}});
}

base::Result<bool> CacheLimit::evict(const UpstreamConfig& upstream, const CachedCopy& copy,
                                     base::UnixMicros now) {
    catalog::Changed changed;
    WHEELYARD_TRY(parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(changed, catalog.evict({upstream.cache_index, copy.filename},
                                                {actor_of(upstream), std::string(reason), now}));
        return {};
    }));
    if (changed.outcome != catalog::ChangeOutcome::changed) return false;  // pinned in the meantime
    ++files_;
    bytes_ += copy.size_bytes;
    io::log_info("upstream.given_back", {{"upstream", upstream.cache_index},
                                         {"filename", copy.filename},
                                         {"sha256", copy.sha256},
                                         {"bytes", std::to_string(copy.size_bytes)},
                                         {"serial", std::to_string(changed.serial)}});
    return true;
}

// As gc does, only from the catalog's own store. An upload that stores the same bytes meanwhile makes them
// younger than `before`, and they stay.
base::Status CacheLimit::remove_blobs(const catalog::Catalog& reader, const base::Clock& clock) {
    WHEELYARD_ASSIGN(std::vector<std::string> hashes, reader.evicted_blobs());
    if (hashes.empty()) return {};
    const base::UnixMicros now = clock.now();
    const ConfigView config = parts_.config.held();
    WHEELYARD_ASSIGN(
        const lifecycle::StoreClaim claim,
        lifecycle::claim_store(
            {.on_catalog = [this](const lifecycle::CatalogWork& work) { return parts_.writer.run(work); },
             .blobs = parts_.blobs,
             .clock = clock,
             .store = config->blob_place().text(),
             .config = config->file}));
    WHEELYARD_TRY(claim.history);
    WHEELYARD_TRY(parts_.writer.run([&](catalog::Catalog& catalog) -> base::Status {
        WHEELYARD_ASSIGN(hashes, catalog.forget_blobs(hashes, {"upstream:cache", std::string(reason), now}));
        return {};
    }));
    const base::UnixMicros before = now - lifecycle::min_grace_ms * 1000;
    for (const std::string& sha256 : hashes)
        WHEELYARD_TRY(parts_.blobs.remove_if_stored_before(sha256, before));
    return {};
}

std::vector<http::Sample> CacheLimit::samples() const {
    const ConfigView config = parts_.config.held();
    if (!has_cache_limit(config)) return {};
    std::vector<http::Sample> samples{{"upstream_given_back_files_total", static_cast<double>(files_)},
                                      {"upstream_given_back_bytes_total", static_cast<double>(bytes_)}};
    const std::lock_guard lock(mutex_);
    for (const IndexConfig& index : config->indexes) {
        if (index.is_private) continue;  // everyone reads the metrics
        for (const UpstreamConfig& upstream : index.upstreams) {
            const auto bytes = cached_.find(upstream.cache_index);
            if (bytes == cached_.end()) continue;
            const std::string label = "upstream=\"" + upstream.cache_index + "\"";
            samples.push_back({"upstream_cache_bytes", static_cast<double>(bytes->second), label});
            samples.push_back(
                {"upstream_cache_limit_bytes", static_cast<double>(upstream.max_cache_bytes), label});
        }
    }
    return samples;
}

}  // namespace wheelyard::registry
