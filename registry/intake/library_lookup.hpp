// Which libraries the wheels of an index have, by the facts of the catalog: for a wheel that needs one of a project that it
// requires (lib/inspect/truth/required_libraries.hpp).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/inspect/truth/required_libraries.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/commit/writer.hpp"

namespace wheelyard::registry {

// The files that the index offers of a project (normalised), its own or inherited ones; none if they cannot be read.
using OfferedFiles = std::function<std::vector<catalog::FileRow>(std::string_view project)>;
// The catalog or writer must outlive the result.
[[nodiscard]] OfferedFiles offered_files(const catalog::Catalog& catalog, const std::string& index);
[[nodiscard]] OfferedFiles offered_files(Writer& writer, const std::string& index);

[[nodiscard]] inspect::LibrariesOf library_lookup(OfferedFiles offered);

}  // namespace wheelyard::registry
