// Changes the indexes from the server's machine: asks the running server, or changes the store if none runs.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/clock.hpp"
#include "registry/api/index_api.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {

struct LocalChange {
    // The wanted tables. `now` has the indexes of the server, or of its next start; `file` those of the file.
    std::function<base::Result<io::Json>(const RegistryConfig& now, const RegistryConfig& file)> choose;
    DecidedBy by = DecidedBy::commands;
    bool dry_run = false;
    std::vector<std::string> may_open = {};  // private indexes that the file may make public
};
// `show` gets the changes before they are made; the audit log has this user. The serial is that of the running server, and 0
// without one: then the next start shows the change. Error "index.opened": the file, which decides
// no more, would make an index public that a command made private.
using ShowChanges = std::function<void(const IndexesChanged&)>;
[[nodiscard]] base::Result<IndexesChanged> change_indexes_here(const std::filesystem::path& config_file,
                                                               const LocalChange& change,
                                                               const ShowChanges& show,
                                                               const base::Clock& clock);

// The indexes of operations in this process.
class LocalIndexes final : public IndexService {
  public:
    LocalIndexes(std::filesystem::path config_file, const database::Store& store, const base::Clock& clock)
        : config_file_(std::move(config_file)), store_(store), clock_(clock) {}
    [[nodiscard]] base::Result<IndexesChanged> change(const IndexEdit& edit, const std::string& actor,
                                                      bool dry_run) override;
    [[nodiscard]] std::string_view decided_by_word() const override;

  private:
    const std::filesystem::path config_file_;
    const database::Store& store_;
    const base::Clock& clock_;
};

}  // namespace wheelyard::registry
