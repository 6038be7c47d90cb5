// Validates a project's page of a followed tree before it is copied byte for byte.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// What a page states about one file.
struct Promised {
    TreeFile file;
    std::uint64_t size_bytes = 0;
    std::string metadata_sha256;  // empty: not served
    auto operator<=>(const Promised&) const = default;
};

// `from` is the index's URL, ends in '/'. "follow.link": a file is linked outside the layout of a published
// tree, or without its hash.
[[nodiscard]] base::Result<std::vector<Promised>> read_followed_json(const std::string& text,
                                                                     const std::string& from,
                                                                     const std::string& project);
// Also requires the HTML to list the same files; otherwise "follow.pages_differ".
[[nodiscard]] base::Result<std::vector<Promised>> read_followed_pages(const std::string& json,
                                                                      const std::string& html,
                                                                      const std::string& from,
                                                                      const std::string& project);

// "files/ab/<sha256>/<filename>", percent-encoded, relative to `from`.
[[nodiscard]] std::string followed_path(const TreeFile& file);

}  // namespace wheelyard::indexer
