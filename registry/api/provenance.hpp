// What made a wheel: the document of its upload, which the store keeps as a blob beside the wheel.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::registry {

// "wheelyard.provenance/1". Errors: "provenance.none" (missing), "provenance.damaged".
[[nodiscard]] base::Result<std::string> read_provenance(const catalog::FileRow& row,
                                                        const blobs::BlobStore& blobs);

}  // namespace wheelyard::registry
