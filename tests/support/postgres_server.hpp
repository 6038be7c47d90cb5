// A real PostgreSQL server for unit tests: one for the process, started by the first test that asks for it.
#pragma once

#include <filesystem>
#include <string>

namespace wheelyard::test {

// False where its server is not installed, which is reported once; the tests then run without it.
[[nodiscard]] bool has_postgres();

// A database's URL for one test: a schema of its own, empty. Only if has_postgres().
[[nodiscard]] std::string postgres_url();

// The folder of its Unix socket.
[[nodiscard]] std::filesystem::path postgres_folder();

// SIGSTOP or SIGCONT for the server and each of its processes.
void signal_postgres(int signal);

}  // namespace wheelyard::test
