// Fetched files that their upstream has removed, of an upstream with `removed = "quarantine"`. Pure.
//
// An upstream removes malware in one of three ways, and says so with a page that can be read: the page lists
// other files, the project's status is "quarantined" (PEP 792), or the project is gone (404, 410, or JSON
// without files). The last one is also how a broken upstream answers, so it counts only once it is confirmed.
// Any other answer says nothing about the files.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/store/catalog/catalog.hpp"
#include "registry/upstream/cached_page.hpp"

namespace wheelyard::registry {

// The reason of each such quarantine begins so; any other quarantine is a person's or another rule's, and
// stays when the file is listed again.
inline constexpr std::string_view removed_reason = "removed upstream: ";

[[nodiscard]] bool is_quarantined_as_removed(const catalog::FileRow& row);
// A pinned file stays: so an operator keeps what the upstream removed.
[[nodiscard]] bool may_be_removed(const catalog::FileRow& row);

struct RemovedFile {
    std::string filename;
    std::string reason;  // empty: the page lists it again, with the same bytes
};
// `page`: as it is after the upstream's answer. `rows`: all fetched files of the project. `is_loss_confirmed`:
// of a page that the upstream has lost.
[[nodiscard]] std::vector<RemovedFile> find_removed(const CachedPage& page,
                                                    std::span<const catalog::FileRow> rows,
                                                    bool is_loss_confirmed);

}  // namespace wheelyard::registry
