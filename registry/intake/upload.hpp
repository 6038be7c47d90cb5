// One upload as data: what its request says, what has come of its body, and what its steps found (upload_steps.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/inspect/inspect.hpp"
#include "registry/access/tokens.hpp"
#include "registry/blobs/store.hpp"
#include "registry/catalog/catalog.hpp"
#include "registry/config/config.hpp"
#include "registry/http/upload.hpp"
#include "registry/intake/attestations.hpp"
#include "registry/intake/validation.hpp"

namespace wheelyard::registry {

struct Upload {
    // The request.
    const std::string request_id;
    const std::string authorization;
    const IndexConfig& index;
    const Identity token;
    const base::UnixMicros started;

    // The body.
    UploadForm form = {};
    std::string filename_text = {};  // shortened and sanitized before the name is checked
    std::optional<UploadName> filename = {};
    std::optional<blobs::StagedBlob> staged = {};

    // The steps.
    std::uint64_t size_bytes = 0;
    std::string sha256 = {};
    std::string provenance = {};  // as it is stored; empty: none
    sigstore::FileProvenance attestations = {};
    Origin origin = {};
    bool is_repeated = false;  // the index has this file with the same bytes
    std::optional<inspect::Inspection> inspection = {};
    catalog::FileRow row = {};  // what is committed; of a repeated upload the earlier one
    http::UploadDone done = {};
};

}  // namespace wheelyard::registry
