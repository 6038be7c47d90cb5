// Keeps an index's wheel list (docs/reference/wheel-list.md) up to date. A run rewrites only the delta, which
// holds what changed since the base; it rewrites the base when the delta has grown. So the cost follows the
// number of changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "indexer/pages/project_view.hpp"
#include "indexer/publish/touched.hpp"
#include "indexer/tree/disk.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"
#include "lib/simple/wheel_list.hpp"

namespace wheelyard::indexer {

// A base up to this size is rewritten for every change; for a larger one, changes go to the delta …
inline constexpr std::uint64_t small_wheel_list_bytes = 256 * base::kib;

// … until it has this many projects: then a new base costs less than fetching the delta again and again.
inline constexpr std::size_t max_delta_projects = 256;

// One project's lines: wheels only, newest version first. A project without wheels has `wheels` 0.
[[nodiscard]] simple::WheelListProject wheel_list_project(const ProjectView& view);

struct WheelListUpdate {
    std::string index;
    catalog::Serial serial = 0;  // of the wheel list after the update
    base::UnixMicros time = 0;
    std::vector<simple::WheelListProject> changed;
    bool rebuild = false;   // rebuild from all projects, ignoring existing files
    bool is_whole = false;  // as in WheelListHead
};
// Where one index's wheel list is, and the folder for its temporary files. They are separate because the
// publisher removes temporary files that it finds next to its pages.
struct WheelListFolders {
    std::filesystem::path folder;  // the index's simple/
    std::filesystem::path temp;    // on the same file system
};
// `all_projects` is called if there is no readable base. `keep_alive` is called for each project of existing
// files.
[[nodiscard]] base::Status update_wheel_list(
    Disk& disk, const WheelListFolders& place, WheelListUpdate update,
    const std::function<base::Result<std::vector<simple::WheelListProject>>()>& all_projects,
    const base::KeepAlive& keep_alive);

// Projects that a publish run has read from the catalog (PublishSettings::on_view). If nothing was committed
// after `serial`, the wheel lists use them instead of reading the catalog again.
struct ReadProjects {
    catalog::Serial serial = 0;
    std::map<ProjectName, simple::WheelListProject> projects = {};
};

// Updates the wheel list of every index of a published tree from the events since its last update. Rebuilds
// those that do not exist, and all with `rebuild`. "lock.held": another process is updating them.
[[nodiscard]] base::Status update_wheel_lists(Disk& disk, const catalog::Catalog& catalog,
                                              const std::filesystem::path& tree, const base::Clock& clock,
                                              bool rebuild = false, ReadProjects* read = nullptr);
// As update_wheel_lists, but waits for the lock (max_lock_polls).
[[nodiscard]] base::Status update_wheel_lists_waiting(const catalog::Catalog& catalog,
                                                      const std::filesystem::path& tree, base::Clock& clock,
                                                      bool rebuild = false, ReadProjects* read = nullptr);

}  // namespace wheelyard::indexer
