// `wheelyard-registry files INDEX`: the files of an index with what its pages do not show, such as those in quarantine.
// `wheelyard-registry storage INDEX`: what the index keeps, and its largest projects.
#pragma once

#include <filesystem>
#include <string>

#include "lib/base/result.hpp"

namespace CLI {
class App;
}

namespace wheelyard::registry {

struct FilesArguments {
    std::string index;
    bool is_quarantined = false;
    bool json = false;
    std::filesystem::path config;
    std::string url;
    std::filesystem::path token_file;
};
// Both read a local data folder (`config`) or ask a remote registry (`url`, `token_file`), and print. Errors:
// "index.unknown", those of the configuration and the catalog, or of the remote registry.
void add_files_options(CLI::App& command, FilesArguments& arguments);
[[nodiscard]] base::Status run_files(const FilesArguments& arguments);
void add_storage_options(CLI::App& command, FilesArguments& arguments);
[[nodiscard]] base::Status run_storage(const FilesArguments& arguments);

}  // namespace wheelyard::registry
