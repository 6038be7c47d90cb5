// Limits of indexer/web/, each with its unit and reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::indexer {

inline constexpr std::int64_t micros_per_second = 1'000'000;
inline constexpr std::size_t date_chars = 10;  // "2026-11-20"
// A description that is larger is cut: the page has to stay readable on a phone.
inline constexpr std::size_t max_description_bytes = 128 * base::kib;

// Headings of a description that get a list of contents, and lines of that list.
inline constexpr std::size_t min_contents_lines = 5;
inline constexpr std::size_t max_contents_lines = 100;
// Wheels of a project page with a section of their own; older ones are one line each. 40 sections are some 200 KiB.
inline constexpr std::size_t max_wheel_sections = 40;
// Wheels of a project whose facts are read for its tables and for the search.
inline constexpr std::size_t max_read_wheels = 400;
// Versions in a matrix, newest first; the rest are in the list of files.
inline constexpr std::size_t max_matrix_versions = 25;
// Of Python 3: those that a project page tells apart although no wheel names them, as Requires-Python does.
inline constexpr int first_shown_minor = 9;
inline constexpr int last_shown_minor = 14;
// Lines of the list of older files.
inline constexpr std::size_t max_listed_files = 2'000;
// Projects that the search page lists without its script; the root page of the index lists all.
inline constexpr std::size_t max_listed_projects = 500;
inline constexpr std::size_t max_feed_entries = 20;
// Rows of a file of the search, some 130 bytes each: 100 results take one file and less than 100 rows of others, within 60 KB.
inline constexpr std::size_t max_shard_rows = 300;
// Characters of a key that are in the name of a file, three bytes each at most; behind them a leaf has more rows.
inline constexpr std::size_t max_shard_depth = 50;
// The name of a facet's first file: deeper ones, compressed and half written, are within the 255 bytes of a file name. A value
// with a longer one, of a tag that somebody made up, is no choice of the search.
inline constexpr std::size_t max_facet_file_bytes = 80;
// Words of a project that find it, beside its name.
inline constexpr std::size_t max_search_words = 16;
// Projects that one is known to need: so many rows of others an upload may change.
inline constexpr std::size_t max_search_needs = 64;
// Versions of a project whose GPU architectures its row of the search states apart, some 30 bytes each.
inline constexpr std::size_t max_search_gpu_versions = 16;
// Newest uploads that search.json knows: max_newest, and as many that take the place of removed ones.
inline constexpr std::size_t max_known_newest = 16;
// On the front page, of all indexes together.
inline constexpr std::size_t max_newest = 8;
// Builds that run, on the front page.
inline constexpr std::size_t max_running = 12;
// The memory that a site reports; more is shown as this. Arithmetic with pixels and bytes stays within 64 bits.
inline constexpr std::int64_t max_shown_mib = std::int64_t{1} << 40;
// Lines on the page of a site, the last that became available; each some 300 bytes and 15 elements.
inline constexpr std::size_t max_site_wheels = 500;
inline constexpr std::size_t max_site_wheels_of_project = 20;
// Builds of one kind on the page of a site; the page of builds has the others.
inline constexpr std::size_t max_site_builds = 20;
// The length of a summary in the search file and in lists.
inline constexpr std::size_t max_summary_bytes = 200;
// Libraries and components by which a search finds a project.
inline constexpr std::size_t max_search_names = 12;
// Pythons and machines for which a search knows another version than the newest.
inline constexpr std::size_t max_search_fits = 60;
// Values of one list of a wheel's section, such as GPU architectures.
inline constexpr std::size_t max_listed_values = 60;

}  // namespace wheelyard::indexer
