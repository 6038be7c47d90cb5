// Where `import` puts what it fetches: a folder `import-XXXXXX` in the store, gone with its owner. One that a
// killed import left behind goes with the next import or start of the server.
#pragma once

#include <filesystem>
#include <utility>

#include "lib/base/fd.hpp"
#include "lib/base/result.hpp"
#include "lib/base/temp_dir.hpp"

namespace wheelyard::registry {

class ImportFolder {
  public:
    [[nodiscard]] static base::Result<ImportFolder> make(const std::filesystem::path& store);
    [[nodiscard]] const std::filesystem::path& path() const { return folder_.path(); }

  private:
    ImportFolder(base::TempDir folder, base::Fd lock) : folder_(std::move(folder)), lock_(std::move(lock)) {}
    base::TempDir folder_;
    base::Fd lock_;
};

// Those of dead imports; a living one's stays. One that cannot be removed is logged and stays, too.
void remove_left_import_folders(const std::filesystem::path& store);

}  // namespace wheelyard::registry
