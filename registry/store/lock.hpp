// The lock of a store, `serve.lock`: the server that serves it holds it, or a command that changes what only a server
// may change.
#pragma once

#include <filesystem>

#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::registry {

// The kernel releases the lock when the process ends. "serve.running" of kind busy: another process keeps it.
[[nodiscard]] base::Result<base::Fd> lock_store(const std::filesystem::path& store);
// Whether any process has the lock.
[[nodiscard]] base::Result<bool> server_runs(const std::filesystem::path& store);

}  // namespace wheelyard::registry
