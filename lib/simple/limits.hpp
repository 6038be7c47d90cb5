// How much of an index's page and of a configuration file is read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/limits.hpp"

namespace wheelyard::simple {

inline constexpr std::uint64_t max_page_bytes =
    64 * base::mib;                                  // the root page of the largest public index: 30 MiB
inline constexpr std::size_t max_links = 2'000'000;  // on one page; the largest root page has 700,000
inline constexpr std::size_t max_filename_bytes = 255;
// A catalogue, and each number in one: 1,000,000 wheels with facts take about 600 MB.
inline constexpr std::uint64_t max_catalogue_bytes = 4096 * base::mib;
// Of a catalogue whose projects are read one after the other: stays in a processor's cache.
inline constexpr std::uint64_t lines_read_at_once_bytes = 256 * base::kib;
inline constexpr std::size_t max_folder_files = 200'000;
inline constexpr std::uint64_t max_pip_config_bytes = base::mib;

}  // namespace wheelyard::simple
