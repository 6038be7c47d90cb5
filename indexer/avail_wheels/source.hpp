// Where wheels are looked for: an index, page by page, or a wheelhouse (a folder of wheels, perhaps sorted by
// architecture).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "indexer/avail_wheels/candidate.hpp"
#include "indexer/avail_wheels/wanted.hpp"
#include "lib/io/http_client.hpp"

namespace wheelyard::avail_wheels {

// The wheels of the projects that are wanted ("*": of all). Only the pages of those projects are fetched;
// the root page only for globs. Files that are no wheels, or whose names cannot be read, are passed over.
[[nodiscard]] base::Result<std::vector<Candidate>> read_index(io::HttpClient& http,
                                                              const std::string& index_url,
                                                              const std::vector<Wanted>& wanted);

// Every wheel below `folder`. A subfolder named like an architecture (the Alliance's layout: generic/, avx2/,
// x86-64-v3/) gives its wheels that `arch`.
[[nodiscard]] base::Result<std::vector<Candidate>> read_wheelhouse(const std::filesystem::path& folder,
                                                                   const std::vector<Wanted>& wanted);

// Names that a folder of a wheelhouse, or -a, may have.
[[nodiscard]] const std::vector<std::string>& known_archs();

}  // namespace wheelyard::avail_wheels
