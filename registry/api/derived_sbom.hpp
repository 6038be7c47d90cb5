// A software bill of materials of a stored wheel, in CycloneDX 1.6: what its own SBOMs state, the libraries
// inside that its bytes prove, and, where its agent said it, the source and the wheels that it was built
// with.
#pragma once

#include <optional>
#include <string>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"
#include "lib/store/blobs/store.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/wire/wheel_provenance.hpp"

namespace wheelyard::registry {

// One row and one provenance always give the same document. Each component has the property
// `wheelyard:basis`: "stated" (by the wheel's SBOM), "proved" (from its bytes) or "said" (by its agent). What
// it was built with has the scope `excluded`: it is not in the wheel.
[[nodiscard]] io::Json derive_sbom(const catalog::FileRow& row,
                                   const std::optional<wire::WheelProvenance>& provenance);
// Renders it as text, with the provenance that is stored beside the wheel. Errors: those of
// read_provenance().
[[nodiscard]] base::Result<std::string> render_sbom(const catalog::FileRow& row,
                                                    const blobs::BlobStore& blobs);

// What made a wheel: the document of its upload, which the store keeps as a blob beside the wheel.

// "wheelyard.provenance/1". Errors: "provenance.none" (missing), "provenance.damaged".
[[nodiscard]] base::Result<std::string> read_provenance(const catalog::FileRow& row,
                                                        const blobs::BlobStore& blobs);

}  // namespace wheelyard::registry
