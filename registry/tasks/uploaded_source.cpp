#include "registry/tasks/uploaded_source.hpp"

#include <utility>

#include "lib/wheel/filename.hpp"
#include "lib/wire/problem.hpp"

namespace wheelyard::tasks {
namespace {

bool is_meant(const catalog::FileRow& row, const wire::TaskWish& wish) {
    const wire::UploadedSource& source = *wish.source;
    return row.state == catalog::FileState::active && row.version == wish.version &&
           wheel::parse_sdist_filename(row.filename, row.project).has_value() &&
           (source.filename.empty() || source.filename == row.filename) &&
           (source.sha256.empty() || source.sha256 == row.sha256);
}

}  // namespace

base::Result<wire::TaskWish> resolve_source(wire::TaskWish wish, const catalog::Catalog& catalog) {
    if (!wish.source) return wish;
    WHEELYARD_ASSIGN(const auto files, catalog.files(wish.source->index, wish.package));
    for (const catalog::FileRow& row : files) {
        if (!is_meant(row, wish)) continue;
        wish.source = {row.index, row.filename, row.sha256};
        return wish;
    }
    return wire::fail("task.no_such_source",
                      "The index has no such source distribution of " + wish.package + " " + wish.version,
                      wish.source->index, "upload it to an index with `sdists = true`");
}

}  // namespace wheelyard::tasks
