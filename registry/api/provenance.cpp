#include "registry/api/provenance.hpp"

#include <utility>

#include "lib/attest/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::registry {
base::Result<std::string> read_provenance(const catalog::FileRow& row, const blobs::BlobStore& blobs) {
    if (row.provenance_sha256.empty())
        return wire::fail("provenance.none", "The file was uploaded without provenance", row.filename,
                          "wheelyard-builder sends it; other programs that upload do not");
    WHEELYARD_ASSIGN(std::string text, blobs.read_bytes(row.provenance_sha256, attest::max_signed_bytes));
    if (base::sha256_hex(text) == row.provenance_sha256) return text;
    return base::fail("provenance.damaged", "The stored provenance has changed on the disk",
                      row.provenance_sha256, "restore this blob from a backup");
}

}  // namespace wheelyard::registry
