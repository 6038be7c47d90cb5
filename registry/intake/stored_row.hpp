// Builds the catalog row of an inspected and stored wheel, for uploads and imports alike.
#pragma once

#include <string>

#include "lib/inspect/inspect.hpp"
#include "lib/io/json.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::registry {

// What an upload states about its wheel; it becomes part of the facts.
struct StatedFacts {
    io::Json attested = {};      // who signed them: a list of sigstore::record_of()
    std::string stated_by = {};  // who says what made it: ID of the token, or agent:SITE; empty: nobody
    std::string built_cpu = {};  // by its provenance, as wire::cpu_of_options; empty: none was sent
};

// Adds to `row` what the inspection knows. `row` has the index, the file name, who uploaded it, and the digests
// and sizes of what is stored; the writer sets the upload time at commit.
[[nodiscard]] catalog::FileRow stored_row(catalog::FileRow row, const inspect::Inspection& inspection,
                                          const StatedFacts& stated = {});

}  // namespace wheelyard::registry
