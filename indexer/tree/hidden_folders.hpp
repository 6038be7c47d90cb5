// Staged folders that readers do not see yet. Each is created as `.NAME.tmp.*` next to its final name.
// Until it is published, paths below the final name lead there.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/files/fd.hpp"
#include "lib/base/keep_alive.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// A path for the *at() system calls: relative to an open folder.
struct AtPath {
    int folder;
    const char* path;  // points into the text that it was made from
};

class HiddenFolders {
  public:
    HiddenFolders() = default;
    HiddenFolders(const HiddenFolders&) = delete;
    HiddenFolders& operator=(const HiddenFolders&) = delete;
    ~HiddenFolders();  // removes what was not published

    // A unique temporary name for `folder`. The caller creates that folder, then calls add().
    [[nodiscard]] static std::string name_for(const std::string& folder);
    // From here on paths below `folder` lead to `actual`, which exists and is removed unless show() publishes it.
    [[nodiscard]] base::Status add(const std::string& folder, std::string actual);
    // Renames the staged folder to `folder`, which must be an empty folder or not exist.
    [[nodiscard]] base::Status show(const std::string& folder);
    // Removes what killed runs staged for `folder`. The caller must hold the tree's lock.
    [[nodiscard]] static base::Status remove_leftovers(const std::string& folder,
                                                       const base::KeepAlive& keep_alive);

    [[nodiscard]] bool is_empty() const { return hidden_.empty(); }
    [[nodiscard]] bool has(const std::string& path) const;
    // Where `path` is inside the staged folder that contains it; its path is nullptr if none does.
    [[nodiscard]] AtPath at_path(const std::string& path) const;
    // `path` unchanged if it is not in a staged folder.
    [[nodiscard]] std::string actual(const std::string& path) const;

  private:
    struct Hidden {
        std::string prefix;  // the final path and "/"
        std::string actual;  // the temporary path
        base::Fd folder;
        // The part of `path` below this folder; "." for the folder itself, nullptr if `path` is elsewhere.
        [[nodiscard]] const char* rest_of(const std::string& path) const;
    };
    std::vector<Hidden> hidden_;
};

}  // namespace wheelyard::indexer
