// A signed index in a folder: its files, what lies beside the signed pages, and the file that remembers the newest state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lib/attest/verify_index.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::attest {

inline constexpr std::uint64_t max_index_page_bytes = 256 * base::mib;

// Of the files below `index`, the folder above simple/.
[[nodiscard]] ReadFile reader_of_folder(const std::filesystem::path& index);

// What a folder has beside the signed pages. A web server cannot be asked for it. Paths below the index.
struct Beside {
    std::vector<std::string> changed;   // compressed copies that are not their page's
    std::vector<std::string> unlisted;  // pages that nobody has signed
};
// `projects`: those of verify_index(). Waits for a publish run, which replaces a page and its copies one after the other.
[[nodiscard]] base::Result<Beside> look_beside(const std::filesystem::path& index,
                                               const std::vector<std::string>& projects, base::Clock& clock);

// The file of `attest verify-index --seen`, "wheelyard.seen/1". Nothing was seen if it is missing. Error "attest.seen".
[[nodiscard]] base::Result<SeenState> read_seen(const std::filesystem::path& file);
[[nodiscard]] base::Status write_seen(const std::filesystem::path& file, const SeenState& seen);

}  // namespace wheelyard::attest
