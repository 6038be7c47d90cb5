// The files of an index with what pages do not show: who uploaded each, whether and why it is in quarantine. For operators.
//
//     {"format":"wheelyard.files/1","files":[{"filename":"six-1.16.0-py2.py3-none-any.whl","project":"six","version":"1.16.0",
//      "size_bytes":11053,"sha256":"8abb…","state":"quarantined","state_reason":"…","yanked":false,"yanked_reason":"",
//      "pinned":false,"uploaded":"2026-11-20T12:00:00.000000Z","uploaded_by":"ci"}],"next":null}
#pragma once

#include <optional>
#include <string>

#include "lib/base/result.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::registry {

struct FileQuery {
    std::string index;
    std::optional<catalog::FileState> state = {};  // nullopt: every state
    std::string after = {};                        // a filename; empty: from the beginning
};

// The document, with at most max_files_returned files. `next` is the `after` of the rest; null: there is none.
[[nodiscard]] base::Result<std::string> list_files(const catalog::Catalog& catalog, const FileQuery& query);

}  // namespace wheelyard::registry
