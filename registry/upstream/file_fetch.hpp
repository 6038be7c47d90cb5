// Downloads a file of an upstream into the store: stage, hash, compare, inspect, store, commit. A file becomes a blob,
// a row and an event only here.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <semaphore>
#include <string>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/commit/writer.hpp"
#include "registry/config/config.hpp"
#include "registry/http/arriving_file.hpp"
#include "registry/upstream/cached_page.hpp"
#include "registry/upstream/cut_downloads.hpp"
#include "registry/upstream/upstream_client.hpp"

namespace wheelyard::registry {

struct FileFetchParts {
    const RegistryConfig& config;
    const blobs::BlobStore& blobs;
    Writer& writer;
    std::counting_semaphore<>& inspections;  // how many there may be at once
    unsigned inspect_threads = 1;
    CutDownloads& cut;  // where an earlier download of this `file` was cut, and where this one is kept
    std::string file;
    const base::Clock& clock;
    // Called with a large file once its first bytes are there, at most once; empty: nobody reads before the end. Who gets the
    // file ends it, by the result of fetch_file(). Should the upstream begin to send another file, it was ended as broken.
    std::function<void(http::SharedArrivingFile)> arrives = {};
};

struct FetchedFile {
    catalog::Serial serial = 0;
    std::uint64_t bytes = 0;
    std::string quarantined_because = {};  // empty: it is offered
};

// Whether the staged bytes are those that the page promises. Errors "upstream.size", "upstream.hash".
[[nodiscard]] base::Status check_bytes(blobs::StagedBlob& staged, const simple::FileLink& link);

// Errors: "upstream.hash" and "upstream.size": other bytes than the page promises (kind conflict, an alarm); "upstream.too_large";
// "upstream.status"; "upstream.refused": the bytes are no wheel of this name, or the catalog refuses the name; those
// of the client and of the store.
[[nodiscard]] base::Result<FetchedFile> fetch_file(const FileFetchParts& parts, UpstreamClient& client,
                                                   const IndexConfig& index, const UpstreamConfig& upstream,
                                                   const UpstreamFile& file);

}  // namespace wheelyard::registry
