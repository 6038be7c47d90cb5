// {name}-{version}-variants.json (PEP 825) in a folder of its hash below the project's page. A version's file
// changes with its wheels, and installers check the hash that the page gives: with one address for all
// states, each upload would break the installs that have just read the page. So the last states stay.
//
//     TREE/main/simple/torch/<sha256>/torch-2.9.0-variants.json
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "indexer/tree/disk.hpp"
#include "lib/base/result.hpp"
#include "lib/store/catalog/version_variants.hpp"

namespace wheelyard::indexer {

// Earlier states of a version that stay: as many as a set of wheels that is uploaded one after the other has.
inline constexpr std::size_t max_earlier_variants = 16;

// `folder`: the project's. Before the pages that link to them.
[[nodiscard]] base::Status place_variants(Disk& disk, const std::string& folder,
                                          std::span<const catalog::VariantsFile> files);
// After these pages: all of versions that have no variants any more, and of the others what is too old.
[[nodiscard]] base::Status remove_old_variants(Disk& disk, const std::string& folder,
                                               std::span<const catalog::VariantsFile> files);

}  // namespace wheelyard::indexer
