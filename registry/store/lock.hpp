// The lock of a store, `serve.lock`: the server that serves it holds it, or a command that changes what only a server
// may change. A server's process id is in the file.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>

#include "lib/base/files/fd.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::registry {

enum class StoreUser { server, command };

// The kernel releases the lock when the process ends. "serve.running" of kind busy: another process keeps it.
[[nodiscard]] base::Result<base::Fd> lock_store(const std::filesystem::path& store, StoreUser user);

// The server that has the lock; nullopt: none runs. "index.busy": a command has it. "index.elsewhere": a server that
// this process does not see, as in another container.
[[nodiscard]] base::Result<std::optional<pid_t>> find_server(const std::filesystem::path& store);
// Whether any process has the lock.
[[nodiscard]] base::Result<bool> server_runs(const std::filesystem::path& store);

}  // namespace wheelyard::registry
