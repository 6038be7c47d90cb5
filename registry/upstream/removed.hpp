// Fetched files that their upstream has removed, of an upstream with `removed = "quarantine"`. Pure.
//
// An upstream removes malware in one of three ways, and says so with a page that can be read: the page lists
// other files, the project's status is "quarantined" (PEP 792, JSON only), or the project is gone (404, 410, or
// JSON without files). The status counts at once. A cut or old page and a broken upstream look like the others:
// so a file counts as removed by the second full answer (FetchedPage::is_full) without it, at least
// absent_fresh_s after the first one. Any other answer says nothing about the files.
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
    catalog::FileRow row;
    std::string reason;  // empty: the page lists it again, with the same bytes
};
// `before`: of the page before this answer, from the same address. `rows`: all fetched files of the project.
// `page`: as it is after the answer; gets `missing`. The caller sees to it that a project is really lost.
[[nodiscard]] std::vector<RemovedFile> find_removed(std::span<const MissingFile> before,
                                                    std::span<const catalog::FileRow> rows, bool is_full,
                                                    CachedPage& page);

}  // namespace wheelyard::registry
