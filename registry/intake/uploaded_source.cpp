#include "registry/intake/uploaded_source.hpp"

#include <utility>

#include "lib/wheel/filename.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::registry {
namespace {

bool is_meant(const catalog::FileRow& row, const wire::TaskRequest& request) {
    const wire::UploadedSource& source = *request.source;
    return row.state == catalog::FileState::active && row.version == request.version &&
           wheel::parse_sdist_filename(row.filename, row.project).has_value() &&
           (source.filename.empty() || source.filename == row.filename) &&
           (source.sha256.empty() || source.sha256 == row.sha256);
}

}  // namespace

base::Result<wire::TaskRequest> resolve_source(wire::TaskRequest request, const catalog::Catalog& catalog) {
    if (!request.source) return request;
    WHEELYARD_ASSIGN(const auto files, catalog.files(request.source->index, request.package));
    for (const catalog::FileRow& row : files) {
        if (!is_meant(row, request)) continue;
        request.source = {row.index, row.filename, row.sha256};
        return request;
    }
    return wire::fail(
        "task.no_such_source",
        "The index has no such source distribution of " + request.package + " " + request.version,
        request.source->index, "upload it to an index with `sdists = true`");
}

}  // namespace wheelyard::registry
