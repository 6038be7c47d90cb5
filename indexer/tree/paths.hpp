// Where everything lies in a published tree, and how pages spell it. See docs/reference/published-tree.md.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "registry/catalog/catalog.hpp"

namespace wheelyard::indexer {

inline constexpr std::string_view html_page = "index.html";
inline constexpr std::string_view json_page = "index.json";
inline constexpr std::string_view gzip_suffix = ".gz";            // nginx's gzip_static
inline constexpr std::string_view metadata_suffix = ".metadata";  // PEP 658

[[nodiscard]] std::filesystem::path state_folder(const std::filesystem::path& tree);
[[nodiscard]] std::filesystem::path root_folder(const std::filesystem::path& tree, std::string_view index);
[[nodiscard]] std::filesystem::path project_folder(const std::filesystem::path& tree, std::string_view index,
                                                   std::string_view project);
// TREE/<index>/files/ab/<sha256>: one folder a file, so that two files of one name never meet.
[[nodiscard]] std::filesystem::path file_folder(const std::filesystem::path& tree, std::string_view index,
                                                std::string_view sha256);

// A project's folder and a file as plain texts, for a run that makes one for every file there is: a path
// takes itself apart when it is made, which costs more than what is done with it.
[[nodiscard]] std::string project_folder_text(const std::filesystem::path& tree, std::string_view index,
                                              std::string_view project);
[[nodiscard]] std::string file_text(const std::filesystem::path& tree, const catalog::FileRow& row);

// TREE/<index>/find-links: every file of the index in one folder, for `pip --no-index --find-links`.
[[nodiscard]] std::filesystem::path flat_folder(const std::filesystem::path& tree, std::string_view index);

// What a link of that folder leads to.
[[nodiscard]] std::filesystem::path flat_target(std::string_view sha256, std::string_view filename);

// How far the tree has come (published_state.hpp).
[[nodiscard]] std::filesystem::path published_file(const std::filesystem::path& tree);

// Where catalogues are written before they take their names beside the pages, and how far they have come.
[[nodiscard]] std::filesystem::path catalogues_folder(const std::filesystem::path& tree);

// The link from a project page to a file: "../../files/ab/<sha256>/torch-2.4.0%2Bcu126-….whl". Relative, so
// that a tree can be served under any prefix.
[[nodiscard]] std::string file_link(const catalog::FileRow& row);
// Only unreserved characters, `/` and `%`: neither HTML nor JSON has to escape it.
void append_file_link(std::string& text, const catalog::FileRow& row);

}  // namespace wheelyard::indexer
