// A temporary folder that its owner's destructor removes recursively.
#pragma once

#include <filesystem>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::base {

class TempDir {
  public:
    // A new 0700 folder "PREFIX-XXXXXX" in `parent` (default: TMPDIR or /tmp).
    [[nodiscard]] static Result<TempDir> make(std::string_view prefix,
                                              const std::filesystem::path& parent = {});
    TempDir(TempDir&& other) noexcept;
    TempDir& operator=(TempDir&& other) noexcept;
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;
    ~TempDir();
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }
    // The folder stays when the owner ends.
    void keep() { path_.clear(); }

  private:
    explicit TempDir(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

}  // namespace wheelyard::base
