// The lock of a store, `serve.lock`: the server that serves it holds it, or a command that changes what only
// a server may change.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "lib/base/files/fd.hpp"
#include "lib/base/process/user.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::registry {

// The kernel releases the lock when the process ends. "serve.running" of kind busy: another process keeps it.
[[nodiscard]] base::Result<base::Fd> lock_store(const std::filesystem::path& store);
// Says whether any process has the lock.
[[nodiscard]] base::Result<bool> server_runs(const std::filesystem::path& store);

// Whose the files of a store are, where a command of root makes them.

// The owner of the store of the configuration in its usual place, for a command that is given none and makes
// a key.
[[nodiscard]] std::optional<base::Owner> other_owner_of_usual_store();

// Where root runs this process and the store is root's or would be: a line that says what a server of another
// user needs. Otherwise empty.
[[nodiscard]] std::string note_of_root(const std::filesystem::path& store);

}  // namespace wheelyard::registry
