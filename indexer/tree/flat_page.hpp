// The page of the flat view, INDEX/find-links/index.html: pip's `--find-links` and older tools read it from a web server that
// lists no folders. It has no compressed copies: pip reads every HTML file of a folder, and ends on `index.html.gz`.
#pragma once

#include <cstddef>
#include <filesystem>

#include "indexer/tree/disk.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// pip reads the page for each project that it looks for, also where it lists the folder: larger views have none.
inline constexpr std::size_t max_flat_page_files = 5'000;

// Writes the page of this folder of links, or removes it. Durable after the next sync_directory.
[[nodiscard]] base::Status write_flat_page(Disk& disk, const std::filesystem::path& folder);

}  // namespace wheelyard::indexer
