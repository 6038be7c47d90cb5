// Keeps the catalogues of a served tree true behind its pages, on a thread of its own: an upload is answered
// when its page is out, and the catalogue follows a moment later. Nothing is queued but "there is news", so
// many publish runs may cost one update, and what a crash cut off is caught up with the first news after it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <thread>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

class CatalogueKeeper {
  public:
    // Brings the catalogues up to date with the catalog.
    using Update = std::function<base::Status()>;
    // A failed update is logged and tried again after `retry_ms`.
    explicit CatalogueKeeper(Update update, std::int64_t retry_ms = 5'000);
    CatalogueKeeper(const CatalogueKeeper&) = delete;
    CatalogueKeeper& operator=(const CatalogueKeeper&) = delete;
    ~CatalogueKeeper();  // does what was asked for before

    void want();

  private:
    void run();

    Update update_;
    std::int64_t retry_ms_;
    std::mutex mutex_;
    std::condition_variable wake_;
    bool wanted_ = false;
    bool stopping_ = false;
    std::thread thread_;
};

// One for a registry's catalog, which it opens for itself, and its tree.
[[nodiscard]] CatalogueKeeper::Update catalogue_update(const std::filesystem::path& catalog_file,
                                                       const std::filesystem::path& tree, base::Clock& clock);

}  // namespace wheelyard::indexer
