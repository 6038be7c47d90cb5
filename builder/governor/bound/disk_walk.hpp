// Sums up what a folder uses on its disk, in slices of time, while others write, delete and rename in it.
#pragma once

#include <dirent.h>
#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace wheelyard::governor {

inline constexpr std::size_t max_depth = 256;  // of folders in one another; each is a descriptor of the walk

struct DiskUse {
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;   // and folders
    bool is_too_deep = false;  // folders beyond max_depth in one another are not counted
};

class DiskWalk {
  public:
    explicit DiskWalk(std::filesystem::path folder);
    // Goes on for at most `slice_ms`. Returns whether the walk is complete; the next call begins another.
    [[nodiscard]] bool advance(std::int64_t slice_ms);
    // A lower bound until the walk ends, which is enough to see that a limit is exceeded. Folders that cannot be opened
    // are not counted.
    [[nodiscard]] const DiskUse& so_far() const { return use_; }

  private:
    struct CloseFolder {
        void operator()(DIR* folder) const { ::closedir(folder); }
    };
    void enter(int parent, const char* name);
    void count(const struct stat& status);

    std::filesystem::path folder_;
    std::vector<std::unique_ptr<DIR, CloseFolder>> open_ = {};  // from the folder down to where the walk is
    std::set<std::pair<dev_t, ino_t>> linked_ = {};             // files with several names
    DiskUse use_ = {};
};

}  // namespace wheelyard::governor
