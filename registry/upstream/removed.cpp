#include "registry/upstream/removed.hpp"

#include <algorithm>

namespace wheelyard::registry {

bool is_quarantined_as_removed(const catalog::FileRow& row) {
    return row.state == catalog::FileState::quarantined && row.state_reason.starts_with(removed_reason);
}

bool may_be_removed(const catalog::FileRow& row) {
    return row.state == catalog::FileState::active && !row.pinned;
}

std::vector<RemovedFile> find_removed(const CachedPage& page, std::span<const catalog::FileRow> rows,
                                      bool is_loss_confirmed) {
    const bool is_lost = page.absent_since != 0;
    if (is_lost ? !is_loss_confirmed : page.is_absent) return {};
    const bool is_hidden = page.is_quarantined();
    const std::string reason =
        std::string(removed_reason) + (is_lost     ? "it no longer has the project"
                                       : is_hidden ? "it keeps the project in quarantine"
                                                   : "its page no longer lists the file");
    std::vector<RemovedFile> found;
    for (const catalog::FileRow& row : rows) {
        const auto listed = std::find_if(page.files.begin(), page.files.end(), [&](const UpstreamFile& file) {
            return file.link.filename == row.filename;
        });
        if (is_lost || is_hidden || listed == page.files.end()) {
            if (may_be_removed(row)) found.push_back({row.filename, reason});
        } else if (is_quarantined_as_removed(row) && !listed->is_changed &&
                   listed->link.sha256 == row.sha256) {
            found.push_back({row.filename, {}});
        }
    }
    return found;
}

}  // namespace wheelyard::registry
