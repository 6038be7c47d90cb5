// Folders that nobody sees yet: each is made under another name beside its own, `.NAME.aside.*`, where its
// paths lead until it is shown.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::indexer {

// Called now and then during long work, whose end its failure is: the lock is renewed there.
using Meanwhile = std::function<base::Status()>;

// A path as the system calls take it: from an open folder on.
struct Place {
    int folder;
    const char* path;  // into the text that it was made from
};

class HiddenFolders {
  public:
    HiddenFolders() = default;
    HiddenFolders(const HiddenFolders&) = delete;
    HiddenFolders& operator=(const HiddenFolders&) = delete;
    ~HiddenFolders();  // removes what was not shown

    // Where `folder` may be made for now, a name that nobody else picks; then it is made there and added.
    [[nodiscard]] static std::string name_for(const std::string& folder);
    [[nodiscard]] base::Status add(const std::string& folder, std::string actual);
    // It takes its name; what stands there must be an empty folder or nothing.
    [[nodiscard]] base::Status show(const std::string& folder);
    // What killed runs left under names for `folder`. Only the holder of the tree's lock may call it.
    [[nodiscard]] static base::Status remove_left(const std::string& folder, const Meanwhile& meanwhile);

    [[nodiscard]] bool is_empty() const { return hidden_.empty(); }
    [[nodiscard]] bool has(const std::string& path) const;
    // From the folder that the path is of or below; its path is nullptr where that is none of these.
    [[nodiscard]] Place place_of(const std::string& path) const;
    // The path itself where it is of none of these.
    [[nodiscard]] std::string actual(const std::string& path) const;

  private:
    struct Hidden {
        std::string prefix;  // its path and "/"
        std::string actual;  // where it is until then
        base::Fd folder;
        // What is left of the path below it; "." is the folder itself. nullptr: the path leads elsewhere.
        [[nodiscard]] const char* rest_of(const std::string& path) const;
    };
    std::vector<Hidden> hidden_;
};

}  // namespace wheelyard::indexer
