// Where wheels are looked for: the catalogue of an index, its pages, or a wheelhouse (a folder of wheels,
// perhaps sorted by architecture).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "indexer/avail_wheels/query/candidate.hpp"
#include "indexer/avail_wheels/query/query.hpp"
#include "lib/simple/catalogue.hpp"
#include "lib/simple/client.hpp"

namespace wheelyard::avail_wheels {

// The wheels of the projects that are wanted ("*": of all). Only the pages of those projects are fetched;
// the root page only for globs. Files that are no wheels, or whose names cannot be read, are passed over.
[[nodiscard]] base::Result<std::vector<Candidate>> read_index(const simple::GetPage& get,
                                                              const std::string& index_url,
                                                              const std::vector<Wanted>& wanted);

// Every wheel below `folder`. A subfolder named like an architecture (the Alliance's layout: generic/, avx2/,
// x86-64-v3/) gives its wheels that `arch`.
[[nodiscard]] base::Result<std::vector<Candidate>> read_wheelhouse(const std::filesystem::path& folder,
                                                                   const std::vector<Wanted>& wanted);

// The wheels of a catalogue that `query` lists, and perhaps some that it does not choose: of each project no
// more is read than decides which version is the newest. `simple_url` (…/simple/) is where their addresses
// begin. With `with_facts`, facts, address, size and hash are there too.
[[nodiscard]] base::Result<std::vector<Candidate>> read_catalogue(const simple::Catalogue& catalogue,
                                                                  const Query& query,
                                                                  const std::string& simple_url,
                                                                  bool with_facts);
// The projects of a catalogue whose names begin with `start` (normalised): for completion.
[[nodiscard]] base::Result<std::vector<std::string>> projects_of_catalogue(const simple::Catalogue& catalogue,
                                                                           std::string_view start);

// Names that a folder of a wheelhouse, or -a, may have.
[[nodiscard]] const std::vector<std::string>& known_archs();

}  // namespace wheelyard::avail_wheels
