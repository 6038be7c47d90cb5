// Downloads a file of an upstream into the store: stage, hash, compare, inspect, store, commit. A file
// becomes a blob, a row and an event only here.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <utility>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/commit/writer.hpp"
#include "registry/config/config.hpp"
#include "registry/http/arriving_file.hpp"
#include "registry/upstream/cached_page.hpp"
#include "registry/upstream/limits.hpp"
#include "registry/upstream/upstream_client.hpp"

namespace wheelyard::registry {

// The beginning of a file whose download was given up, for the next one of the same file: it goes on from
// there.
struct CutDownload {
    blobs::StagedBlob staged;
    std::optional<std::uint64_t> size = {};  // of the whole file
    std::string validator = {};              // for If-Range; empty: it has none
};

// Kept for this run of the registry; the oldest goes first. Thread-safe.
class CutDownloads {
  public:
    // `file`: its name in this upstream, with its hash.
    void keep(const std::string& file, CutDownload cut, base::UnixMicros now) {
        const std::lock_guard lock(mutex_);
        kept_.remove_if([&](const Kept& one) { return one.file == file; });
        kept_.push_back({file, now, std::move(cut)});
        drop(now);
    }
    [[nodiscard]] std::optional<CutDownload> take(const std::string& file, base::UnixMicros now) {
        const std::lock_guard lock(mutex_);
        drop(now);
        for (auto one = kept_.begin(); one != kept_.end(); ++one) {
            if (one->file != file) continue;
            std::optional<CutDownload> cut(std::move(one->cut));
            kept_.erase(one);
            return cut;
        }
        return std::nullopt;
    }
    // Their room is needed.
    void clear() {
        const std::lock_guard lock(mutex_);
        kept_.clear();
    }

  private:
    struct Kept {
        std::string file;
        base::UnixMicros since;
        CutDownload cut;
    };
    void drop(base::UnixMicros now) {
        kept_.remove_if([&](const Kept& one) { return one.since + cut_download_kept_s * 1'000'000 <= now; });
        std::uint64_t bytes = 0;
        for (const Kept& one : kept_)
            bytes += one.cut.staged.size();
        while (!kept_.empty() && (kept_.size() > max_cut_downloads || bytes > max_cut_download_bytes)) {
            bytes -= kept_.front().cut.staged.size();
            kept_.pop_front();
        }
    }

    std::mutex mutex_;
    std::list<Kept> kept_;  // the oldest first
};

struct FileFetchParts {
    const RegistryConfig& config;
    const blobs::BlobStore& blobs;
    Writer& writer;
    std::counting_semaphore<>& inspections;  // how many there may be at once
    unsigned inspect_threads = 1;
    CutDownloads& cut;  // where an earlier download of this `file` was cut, and where this one is kept
    std::string file;
    const base::Clock& clock;
    // Called with a large file once its first bytes are there, at most once; empty: nobody reads before the
    // end. Who gets the file ends it, by the result of fetch_file(). Should the upstream begin to send
    // another file, it was ended as broken.
    std::function<void(http::SharedArrivingFile)> arrives = {};
};

struct FetchedFile {
    catalog::Serial serial = 0;
    std::uint64_t bytes = 0;
    bool is_quarantined = false;  // by the inspection, or by a mark that came meanwhile
    std::string quarantined_because = {};
};

// Says whether the staged bytes are those that the page promises. Errors "upstream.size", "upstream.hash".
[[nodiscard]] base::Status check_bytes(blobs::StagedBlob& staged, const simple::FileLink& link);

// Errors: "upstream.hash" and "upstream.size": other bytes than the page promises (kind conflict, an alarm);
// "upstream.too_large"; "upstream.status"; "upstream.refused": the bytes are no wheel of this name, or the
// catalog refuses the name; those of the client and of the store.
[[nodiscard]] base::Result<FetchedFile> fetch_file(const FileFetchParts& parts, UpstreamClient& client,
                                                   const IndexConfig& index, const UpstreamConfig& upstream,
                                                   const UpstreamFile& file);

}  // namespace wheelyard::registry
