// One request to an upstream for a project's page, and what its answer means.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "registry/upstream/cached_page.hpp"
#include "registry/upstream/upstream_client.hpp"

namespace wheelyard::registry {

struct FetchedPage {
    CachedPage page;
    std::vector<HashAlarm> alarms = {};
    bool is_unchanged = false;  // 304
    // 200, 404 or 410, of HTML with links and its end: what it does not list, the upstream does not have.
    bool is_full = false;
    bool has_left = false;  // the upstream has lost the project since `before`; the page is kept
};
// How a request failed. An upstream-wide failure pauses all requests to it.
struct PageFailure {
    base::Error error;
    bool is_upstream_wide = false;
    std::int64_t pause_s = 0;  // as the upstream asked; 0: the caller's backoff
    bool is_loop = false;      // the upstream is a registry that would have to ask this one
};

// `before`: the cached page, or nullptr; makes the request conditional, unless files are missing. `large` gets
// locked before a large page is read, and what it returns takes as much memory.
[[nodiscard]] tl::expected<FetchedPage, PageFailure> fetch_page(
    UpstreamClient& client, const UpstreamConfig& upstream, const std::string& project,
    const CachedPage* before, const base::Clock& clock, std::unique_lock<std::mutex>& large);

// Says whether the upstream itself, no cache on the way, lists files of `project` now; of a page of over 8 MiB
// that stays unknown, false.
[[nodiscard]] bool lists_files(UpstreamClient& client, const UpstreamConfig& upstream,
                               const std::string& project);

// What an answer means. Pure; `now` is when it arrived.
[[nodiscard]] tl::expected<FetchedPage, PageFailure> read_page_answer(const io::HttpAnswer& answer,
                                                                      const std::string& url,
                                                                      const CachedPage* before,
                                                                      base::UnixMicros now);

}  // namespace wheelyard::registry
