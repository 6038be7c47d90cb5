#include "registry/upstream/removed.hpp"

#include <unordered_map>

#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {

bool is_quarantined_as_removed(const catalog::FileRow& row) {
    return row.state == catalog::FileState::quarantined && row.state_reason.starts_with(removed_reason);
}

bool may_be_removed(const catalog::FileRow& row) {
    return row.state == catalog::FileState::active && !row.pinned;
}

std::vector<RemovedFile> find_removed(std::span<const MissingFile> before,
                                      std::span<const catalog::FileRow> rows, bool is_full,
                                      CachedPage& page) {
    page.missing.clear();
    const bool is_lost = page.absent_since != 0;
    const bool is_hidden = page.is_quarantined() && !is_lost;
    if (page.is_absent && !is_lost) return {};
    std::unordered_map<std::string_view, const UpstreamFile*> listed;
    for (const UpstreamFile& file : page.files)
        if (!is_lost && !is_hidden) listed.emplace(file.link.filename, &file);
    std::unordered_map<std::string_view, base::UnixMicros> since;
    for (const MissingFile& file : before)
        since.emplace(file.filename, file.since);
    const std::string reason =
        std::string(removed_reason) + (is_lost     ? "it no longer has the project"
                                       : is_hidden ? "it keeps the project in quarantine"
                                                   : "its page no longer lists the file");
    std::vector<RemovedFile> found;
    for (const catalog::FileRow& row : rows) {
        if (const auto link = listed.find(row.filename); link != listed.end()) {
            if (is_quarantined_as_removed(row) && !link->second->is_changed &&
                link->second->link.sha256 == row.sha256)
                found.push_back({row, {}});
            continue;
        }
        if (!may_be_removed(row)) continue;
        const auto known = since.find(row.filename);
        if (known != since.end() || is_full)
            page.missing.push_back({row.filename, known != since.end() ? known->second : page.checked});
        const bool is_again = is_full && known != since.end() &&
                              page.checked - known->second >= absent_fresh_s * base::second_us;
        if (is_again || is_hidden) found.push_back({row, reason});
    }
    return found;
}

}  // namespace wheelyard::registry
