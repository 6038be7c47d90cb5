#include "registry/api/file_list.hpp"

#include <utility>

#include "lib/base/clock.hpp"
#include "lib/io/json.hpp"
#include "registry/api/limits.hpp"

namespace wheelyard::registry {

base::Result<std::string> list_files(const catalog::Catalog& catalog, const FileQuery& query) {
    WHEELYARD_ASSIGN(const auto rows,
                     catalog.files_after(query.index, query.after, max_files_returned, query.state));
    io::Json files = io::Json::array();
    for (const catalog::FileRow& row : rows)
        files.push(io::Json::object({{"filename", row.filename},
                                     {"project", row.project},
                                     {"version", row.version},
                                     {"size_bytes", row.size_bytes},
                                     {"sha256", row.sha256},
                                     {"state", catalog::file_state_text(row.state)},
                                     {"state_reason", row.state_reason},
                                     {"yanked", row.yanked},
                                     {"yanked_reason", row.yanked_reason},
                                     {"pinned", row.pinned},
                                     {"uploaded", base::render_rfc3339(row.upload_time)},
                                     {"uploaded_by", row.uploaded_by}}));
    const bool is_complete = rows.size() < max_files_returned;
    return io::Json::object({{"format", "wheelyard.files/1"},
                             {"files", std::move(files)},
                             {"next", is_complete ? io::Json() : io::Json(rows.back().filename)}})
        .render();
}

}  // namespace wheelyard::registry
