#include "registry/api/provenance.hpp"

#include <optional>

#include "lib/attest/limits.hpp"
#include "lib/base/digest/digest.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::registry {
namespace {

base::Result<std::string> read_document(const std::optional<catalog::FileRow>& row,
                                        const blobs::BlobStore& blobs, const catalog::FileName& name) {
    if (row) return read_provenance(*row, blobs);
    return wire::fail("file.unknown", "The index has no such file", name.filename,
                      "GET /" + name.index + "/simple/ lists its projects");
}

}  // namespace

base::Result<std::string> read_provenance(const catalog::FileRow& row, const blobs::BlobStore& blobs) {
    if (row.provenance_sha256.empty())
        return wire::fail("provenance.none", "The file was uploaded without provenance", row.filename,
                          "wheelyard-builder sends it; other programs that upload do not");
    WHEELYARD_ASSIGN(std::string text, blobs.read_bytes(row.provenance_sha256, attest::max_signed_bytes));
    if (base::sha256_hex(text) == row.provenance_sha256) return text;
    return base::fail("provenance.damaged", "The stored provenance has changed on the disk",
                      row.provenance_sha256, "restore this blob from a backup");
}

base::Result<std::string> read_provenance(const catalog::Catalog& catalog, const blobs::BlobStore& blobs,
                                          const catalog::FileName& name) {
    WHEELYARD_ASSIGN(const auto row, catalog.file(name.index, name.filename));
    return read_document(row, blobs, name);
}

base::Result<std::string> read_provenance(Writer& writer, const blobs::BlobStore& blobs,
                                          const catalog::FileName& name) {
    WHEELYARD_ASSIGN(const auto row, writer.find_file(name.index, name.filename));
    return read_document(row, blobs, name);
}

}  // namespace wheelyard::registry
