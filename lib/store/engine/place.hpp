// Where the databases of a data folder are: files in the folder itself, or a PostgreSQL server.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "lib/base/spent.hpp"

namespace wheelyard::database {

struct Place {
    std::filesystem::path folder;  // of the data, also where the rows are elsewhere
    std::string url = {};          // "postgres://…" or "host=… dbname=…"; empty: SQLite in the folder
    std::filesystem::path password_file = {};  // its first line is the password; empty: libpq finds one
};

// Empty if `url` names a database without a password, otherwise what is wrong. A password in it would be in
// the list of processes, and in messages.
[[nodiscard]] std::string fault_of_url(std::string_view url);

// What this process has spent in statements of its databases, over all connections.
[[nodiscard]] base::Spent& spent();

}  // namespace wheelyard::database
