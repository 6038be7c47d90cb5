// The beginnings of files whose download was given up, for the next one of the same file: it goes on from there. Kept for this run of
// the registry; the oldest goes first. Thread-safe.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "lib/base/clock.hpp"
#include "registry/blobs/store.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {

struct CutDownload {
    blobs::StagedBlob staged;
    std::optional<std::uint64_t> size = {};  // of the whole file
    std::string validator = {};              // for If-Range; empty: it has none
};

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

}  // namespace wheelyard::registry
