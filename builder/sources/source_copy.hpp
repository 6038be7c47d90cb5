// Copies a source that is a folder. A large one takes longer on a slow file system than the agent's lock is
// believed.
#pragma once

#include <filesystem>

#include "lib/base/breathe.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::builder {

// The files, folders and symbolic links (as they are) of `from` into `to`, made new, with their modes as far
// as the umask lets them. Breathes before each of them, and after each piece of a file. Errors: of
// copy_error, and as `breathe`.
[[nodiscard]] base::Status copy_source(const std::filesystem::path& from, const std::filesystem::path& to,
                                       const base::Breathe& breathe);

// What a file system's refusal means for the source: "source.unreadable" where the source itself stays so;
// else its own code ("os.ENOSPC", "os.ESTALE" …), as another try may find room, or the file system back.
[[nodiscard]] base::Error copy_error(base::Error refusal);

}  // namespace wheelyard::builder
