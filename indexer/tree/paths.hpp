// The layout of a published tree, and the links that pages use. See docs/reference/published-tree.md.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "lib/store/catalog/catalog.hpp"
#include "lib/store/catalog/version_variants.hpp"

namespace wheelyard::indexer {

inline constexpr std::string_view html_page = "index.html";
inline constexpr std::string_view json_page = "index.json";
inline constexpr std::string_view gzip_suffix = ".gz";            // of a compressed copy: nginx's gzip_static
inline constexpr std::string_view zstd_suffix = ".zst";           // the same for its module zstd_static
inline constexpr std::string_view metadata_suffix = ".metadata";  // PEP 658
// The wheel's provenance. The longest name of a wheel leaves room for ".metadata" only, thus the short
// suffix.
inline constexpr std::string_view provenance_suffix = ".prov";
inline constexpr std::string_view attestations_suffix = ".pep740";  // its provenance object

[[nodiscard]] std::filesystem::path state_folder(const std::filesystem::path& tree);
[[nodiscard]] std::filesystem::path root_folder(const std::filesystem::path& tree, std::string_view index);
[[nodiscard]] std::filesystem::path project_folder(const std::filesystem::path& tree, std::string_view index,
                                                   std::string_view project);
// TREE/<index>/files/ab/<sha256>: one folder per file, so that two files of one name never collide.
[[nodiscard]] std::filesystem::path file_folder(const std::filesystem::path& tree, std::string_view index,
                                                std::string_view sha256);

// A project's folder and a file as strings, for code that runs once per file: constructing a
// std::filesystem::path parses it, which costs more than using it.
[[nodiscard]] std::string project_folder_text(const std::filesystem::path& tree, std::string_view index,
                                              std::string_view project);
[[nodiscard]] std::string file_text(const std::filesystem::path& tree, const catalog::FileRow& row);

// The web UI (view "pages"): TREE/<index>/project/<name>/, and of the whole index TREE/<index>/project/,
// TREE/<index>/builds/ and TREE/<index>/site/, with a folder for each site.
inline constexpr std::string_view feed_page = "feed.xml";
[[nodiscard]] std::filesystem::path web_folder(const std::filesystem::path& tree, std::string_view index,
                                               std::string_view project);
[[nodiscard]] std::filesystem::path web_root_folder(const std::filesystem::path& tree,
                                                    std::string_view index);
[[nodiscard]] std::filesystem::path builds_folder(const std::filesystem::path& tree, std::string_view index);
[[nodiscard]] std::filesystem::path sites_folder(const std::filesystem::path& tree, std::string_view index);
// What the sites of the index report; the registry writes it.
[[nodiscard]] std::filesystem::path status_file(const std::filesystem::path& tree, std::string_view index);

// TREE/<index>/find-links: every file of the index in one folder (view "find-links"), and its page with a
// link to each, for `pip --no-index --find-links`. The page has no compressed copy: pip reads a folder's
// index.html.gz as if it were HTML.
[[nodiscard]] std::filesystem::path flat_folder(const std::filesystem::path& tree, std::string_view index);

// The target of a link in that folder.
[[nodiscard]] std::filesystem::path flat_target(std::string_view sha256, std::string_view filename);

// The tree's state record (published_state.hpp).
[[nodiscard]] std::filesystem::path published_file(const std::filesystem::path& tree);

// Where the file TREE/<index>/<name> is written before it is renamed: ".wheelyard/<name>-<index>.new". After
// a kill it is still there, and names projects of the index.
[[nodiscard]] std::filesystem::path draft_file(const std::filesystem::path& tree, std::string_view index,
                                               std::string_view name);
inline constexpr std::string_view status_draft = "status";
inline constexpr std::string_view flat_draft = "find-links";

// Holds temporary files of wheel lists before they are renamed into simple/, and their state.
[[nodiscard]] std::filesystem::path wheel_lists_folder(const std::filesystem::path& tree);

// The link from a project page to a file: "../../files/ab/<sha256>/torch-2.4.0%2Bcu126-….whl". Relative, so
// that a tree can be served under any prefix.
[[nodiscard]] std::string file_link(const catalog::FileRow& row);
// "https://HOST/INDEX/files/ab/…/FILE.pep740"; `root_url` ends in "/".
[[nodiscard]] std::string attestations_url(std::string_view root_url, const catalog::FileRow& row);
// Appends only unreserved characters, `/` and `%`, so neither HTML nor JSON needs to escape it.
// `to_index`: from the page's folder to that of the index.
void append_file_link(std::string& text, const catalog::FileRow& row, std::string_view to_index = "../../");
// The same to a version's variants: "<sha256>/torch-2.9.0-variants.json", below the folder of the project's
// page. The file changes with the version's wheels; each state has a name of its own, so that a page read a
// moment ago still holds.
void append_variants_link(std::string& text, const catalog::VariantsFile& file);

}  // namespace wheelyard::indexer
