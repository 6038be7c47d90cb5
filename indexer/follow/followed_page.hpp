// A project's page of a tree that is followed: taken byte for byte, so what it links is looked at first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "indexer/tree/published_state.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// What a page promises of one file.
struct Promised {
    TreeFile file;
    std::uint64_t size_bytes = 0;
    std::string metadata_sha256;  // empty: none is served
    auto operator<=>(const Promised&) const = default;
};

// `from` is the index's address, ends in '/'. A file that is linked from elsewhere than where a published
// tree has it, or without its hash, is error "follow.link".
[[nodiscard]] base::Result<std::vector<Promised>> read_followed_json(const std::string& text,
                                                                     const std::string& from,
                                                                     const std::string& project);
// The same, and the HTML must name the same files: "follow.pages_differ".
[[nodiscard]] base::Result<std::vector<Promised>> read_followed_pages(const std::string& json,
                                                                      const std::string& html,
                                                                      const std::string& from,
                                                                      const std::string& project);

// "files/ab/<sha256>/<filename>", percent-encoded: below `from`.
[[nodiscard]] std::string followed_path(const TreeFile& file);

}  // namespace wheelyard::indexer
