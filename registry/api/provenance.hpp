// What made a wheel: the document of its upload, which the store keeps as a blob beside the wheel.
#pragma once

#include <string>

#include "lib/base/result.hpp"
#include "registry/blobs/store.hpp"
#include "registry/commit/writer.hpp"

namespace wheelyard::registry {

// "wheelyard.provenance/1". Errors: "file.unknown" and "provenance.none" (both missing), "provenance.damaged".
[[nodiscard]] base::Result<std::string> read_provenance(const catalog::FileRow& row,
                                                        const blobs::BlobStore& blobs);
[[nodiscard]] base::Result<std::string> read_provenance(const catalog::Catalog& catalog,
                                                        const blobs::BlobStore& blobs,
                                                        const catalog::FileName& name);
[[nodiscard]] base::Result<std::string> read_provenance(Writer& writer, const blobs::BlobStore& blobs,
                                                        const catalog::FileName& name);

}  // namespace wheelyard::registry
