// A temporary folder that its owner's destructor removes recursively.
#pragma once

#include <chrono>
#include <filesystem>
#include <string_view>

#include "lib/base/keep_alive.hpp"
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

// What a crash leaves of base::replace_file: ".NAME.tmp.*" beside NAME. Only while nobody else writes there.
// Errors: those of the file system; a missing folder is one.

// Removes the temporary files of replace_file(`path`); with an age, also while others write there: only those
// that nobody has written for so long.
[[nodiscard]] Status remove_temporary_files(const std::filesystem::path& path, std::chrono::seconds age = {});
// Removes those of all files directly in `folder`, but for names that begin with `kept`: the caller's own.
[[nodiscard]] Status remove_temporary_files_in(const std::filesystem::path& folder,
                                               std::string_view kept = {});
// Removes those of all files in `folder` and in the folders below it.
[[nodiscard]] Status remove_temporary_files_below(const std::filesystem::path& folder);

// Recursive removal of a folder; this can take long on a slow file system.

// Removes `path` of any kind, including folders without read or write permission for their owner. Calls
// `keep_alive` before each entry and stops if it fails. Entries that cannot be removed stay; the first such
// failure is returned at the end. A missing path is not an error.
[[nodiscard]] Status remove_tree(const std::filesystem::path& path, const KeepAlive& keep_alive = {});

}  // namespace wheelyard::base
