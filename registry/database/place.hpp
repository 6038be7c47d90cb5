// Where the databases of a data folder are: files in the folder itself, or a PostgreSQL server.
#pragma once

#include <filesystem>
#include <string>

namespace wheelyard::database {

struct Place {
    std::filesystem::path folder;  // of the data, also where the rows are elsewhere
    std::string url = {};          // "postgres://…" or "host=… dbname=…"; empty: SQLite in the folder
    std::filesystem::path password_file = {};  // its first line is the password; empty: libpq finds one
};

}  // namespace wheelyard::database
