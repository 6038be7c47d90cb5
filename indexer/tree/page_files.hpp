// Page files of one folder: plain, and compressed (`index.html.gz`, `index.html.zst`) if the tree has that
// view or the page is large.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/tree/disk.hpp"
#include "indexer/tree/paths.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// Suffixes of the compressed copies that this program writes.
[[nodiscard]] std::set<std::string> kept_copies();
// Removes the compressed copies of pages and lists that the tree's last writer left as they were, as an older
// program does, and those that this one would: they may be of older pages, and web servers do not compare
// times. Those of pages that change come again. `kept`: by the last writer.
[[nodiscard]] base::Status remove_left_copies(Disk& disk, const std::filesystem::path& tree,
                                              const std::set<std::string>& kept,
                                              const base::KeepAlive& keep_alive);

// Says whether the file is there with these bytes; false for more than max_page_bytes.
[[nodiscard]] base::Result<bool> has_bytes(Disk& disk, const std::string& file, const std::string& bytes);

// Creates the folder and writes the pages whose bytes differ from the existing ones, in the given order.
// True: at least one was written or removed. `lacks_copies`: not null leaves the compressed copies to
// write_copies(), and says whether a page that was replaced lacks some then. Those of the page before are removed, durably,
// before the page is replaced: readers get no older page in any coding.
[[nodiscard]] base::Result<bool> write_pages(Disk& disk, const std::string& folder,
                                             const std::vector<NamedBytes>& pages, bool precompressed,
                                             bool* lacks_copies = nullptr);
// The copies of the project's pages that are in the folder; none if it does not exist.
[[nodiscard]] base::Status write_copies(Disk& disk, const std::string& folder, bool precompressed);

// As Disk::replace_via for a text that programs load by itself; its compressed copies come before it.
[[nodiscard]] base::Status replace_text_via(Disk& disk, const std::filesystem::path& temp,
                                            const std::filesystem::path& path, std::string_view bytes);

// Removes the page and its compressed copies.
[[nodiscard]] base::Status remove_page(Disk& disk, const std::filesystem::path& page);
// Removes a project's pages but not their folder.
[[nodiscard]] base::Status remove_pages(Disk& disk, const std::filesystem::path& folder);
// Removes the folder with everything in it, depth first. Links are removed, never followed.
[[nodiscard]] base::Status remove_folder(Disk& disk, const std::filesystem::path& folder,
                                         const base::KeepAlive& keep_alive);

// The names of the folders in `folder`, sorted; none if it does not exist.
[[nodiscard]] base::Result<std::vector<std::string>> folders_below(const std::filesystem::path& folder);

// The projects of an index that have a folder in the tree, sorted.
[[nodiscard]] base::Result<std::vector<std::string>> names_with_folders(const std::filesystem::path& tree,
                                                                        const std::string& index);

// TREE/<index>/status.json: the status of an index for its readers (lib/status/index_status.hpp). It is not
// part of a publish run; the next run shows it in the web UI.

// Replaces the file atomically, if it differs. True: it did. One process of a tree writes this file. An error
// if the tree does not have the index: it may just have become private.
[[nodiscard]] base::Result<bool> write_status_file(Disk& disk, const std::filesystem::path& tree,
                                                   const std::string& index, std::string_view document);

}  // namespace wheelyard::indexer
