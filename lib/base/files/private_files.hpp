// Files and folders that only their owner may read: 0600 and 0700, whatever the umask, also for those that exist.
//
// Modes are changed by path, without opening the file: closing any descriptor of an SQLite database would release
// the locks that this process holds on it (POSIX fcntl locks).
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>

#include "lib/base/result.hpp"

namespace wheelyard::base {

inline constexpr mode_t private_file_mode = 0600;
// The rights that no file with a secret grants: with one of them, others can read or replace it. A service may read it by its group.
inline constexpr mode_t rights_of_strangers = S_IRWXO | S_IWGRP;

// make_directories(), then mode 0700. Folders above `path` keep their modes.
[[nodiscard]] Status make_private_directories(const std::filesystem::path& path);
// Takes the permissions of group and others from an existing file. A missing file, a symbolic link and a file of
// another owner are left as they are.
[[nodiscard]] Status make_private(const std::filesystem::path& path);
// Creates an empty file with mode 0600 if it is missing; an existing one becomes private.
[[nodiscard]] Status create_private(const std::filesystem::path& path);

}  // namespace wheelyard::base
