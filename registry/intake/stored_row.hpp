// Builds the catalog row of an inspected and stored wheel, for uploads and imports alike.
#pragma once

#include <string>

#include "lib/inspect/inspect.hpp"
#include "lib/io/json.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::registry {

// What the inspection does not know about the wheel.
struct StoredWheel {
    std::string index;
    std::string filename;
    std::string sha256;
    std::uint64_t size_bytes = 0;
    std::string metadata_sha256;  // of the stored METADATA
    std::string uploaded_by;
    std::string provenance_sha256 = {};  // of the stored provenance; empty: none
    std::uint64_t provenance_size_bytes = 0;
    std::string attestations_sha256 = {};  // of the stored provenance object (PEP 740); empty: none
    std::uint64_t attestations_size_bytes = 0;
    io::Json attested = {};      // who signed them: a list of sigstore::record_of()
    std::string stated_by = {};  // who says what made it: ID of the token, or agent:SITE; empty: nobody
    std::string built_cpu = {};  // by its provenance, as wire::cpu_of_options; empty: none was sent
};

// The upload time is 0; the writer sets it at commit.
[[nodiscard]] catalog::FileRow stored_row(const StoredWheel& wheel, const inspect::Inspection& inspection);

}  // namespace wheelyard::registry
