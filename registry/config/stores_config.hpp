// `[stores]`: the stores outside of the data folder, for a registry that one machine is not enough for.
#pragma once

#include <filesystem>
#include <string>

#include "lib/io/toml.hpp"

namespace wheelyard::registry {

struct StoresConfig {
    std::string database;                          // empty: SQLite in the data folder
    std::filesystem::path database_password_file;  // empty: libpq finds the password
    std::string blobs;                             // "s3://BUCKET/PREFIX"; empty: files in the data folder
    std::string blobs_endpoint;                    // "https://…", for the server
    std::string blobs_public_endpoint;  // the same for clients; empty: they get no URL of the store
    std::string blobs_region;
    bool blobs_path_style = false;                 // the bucket is part of the path, not of the host's name
    std::filesystem::path blobs_credentials_file;  // empty: from the environment
};

[[nodiscard]] StoresConfig read_stores(io::TomlTable table);

}  // namespace wheelyard::registry
