// The folder `import-XXXXXX` in the store that receives what `import` downloads; its destructor removes it.
// The next import or server start removes folders that killed imports left behind.
#pragma once

#include <filesystem>
#include <utility>

#include "lib/base/files/fd.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/result.hpp"

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

// Removes the folders of dead imports, never those in use. Failures are logged and skipped.
void remove_left_import_folders(const std::filesystem::path& store);

}  // namespace wheelyard::registry
