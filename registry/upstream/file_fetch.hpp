// Downloads a file of an upstream into the store: stage, hash, compare, inspect, store, commit. A file becomes a blob,
// a row and an event only here.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/config.hpp"
#include "registry/upstream/cached_page.hpp"
#include "registry/upstream/upstream_client.hpp"

namespace wheelyard::registry {

struct FileFetchParts {
    const RegistryConfig& config;
    const blobs::BlobStore& blobs;
    Writer& writer;
    unsigned inspect_threads = 1;
};

struct FetchedFile {
    catalog::Serial serial = 0;
    std::uint64_t bytes = 0;
};

// Errors: "upstream.hash" and "upstream.size": other bytes than the page promises (kind conflict, an alarm); "upstream.too_large";
// "upstream.status"; "upstream.refused": the bytes are no wheel of this name, or the catalog refuses the name; those
// of the client and of the store.
[[nodiscard]] base::Result<FetchedFile> fetch_file(const FileFetchParts& parts, UpstreamClient& client,
                                                   const IndexConfig& index, const UpstreamConfig& upstream,
                                                   const UpstreamFile& file);

}  // namespace wheelyard::registry
