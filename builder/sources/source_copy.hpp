// Copies a source that is a folder. On a slow file system, a large copy takes longer than the agent's lock stays
// valid without a refresh.
#pragma once

#include <cstddef>
#include <filesystem>

#include "lib/base/keep_alive.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

inline constexpr std::size_t copy_piece_bytes = base::mib;  // copied between two calls of `keep_alive`

// Copies the files, folders and symbolic links (not followed) of `from` into the new folder `to`, with their
// modes restricted by the umask. Calls `keep_alive` before each entry and after each piece of a file. Errors: those
// of copy_error and of `keep_alive`.
[[nodiscard]] base::Status copy_source(const std::filesystem::path& from, const std::filesystem::path& to,
                                       const base::KeepAlive& keep_alive);

// Converts a file system error: "source.unreadable" if the source itself is at fault; otherwise the error keeps
// its code ("os.ENOSPC", "os.ESTALE" …), because another try may succeed.
[[nodiscard]] base::Error copy_error(base::Error refusal);

}  // namespace wheelyard::builder
