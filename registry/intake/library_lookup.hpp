// Which libraries the wheels of an index have, by the facts of the catalog: for a wheel that needs one of a project that it
// requires (lib/inspect/truth/required_libraries.hpp).
#pragma once

#include <string>

#include "lib/inspect/truth/required_libraries.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/commit/writer.hpp"

namespace wheelyard::registry {

// Of the wheels that `index` offers, its own or inherited ones. What cannot be read is not known. The catalog or writer must
// outlive the result.
[[nodiscard]] inspect::LibrariesOf library_lookup(const catalog::Catalog& catalog, const std::string& index);
[[nodiscard]] inspect::LibrariesOf library_lookup(Writer& writer, const std::string& index);

}  // namespace wheelyard::registry
