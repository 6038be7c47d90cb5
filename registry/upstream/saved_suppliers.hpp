// What a backup keeps of the pages of upstreams: what no upstream can be asked for again. Who supplies each
// project, who released it, and the hash with which each file name was seen first.
//
//     BACKUP/suppliers.tsv
//     wheelyard.suppliers/1
//     main.public	six	{"format":"wheelyard.upstream-page/1","is_absent":true,"supplies":["main"],"gone":[…],…}
//
// Each page is one without files (cached_page.hpp): a restored registry asks the upstream before it shows the
// project.
#pragma once

#include <filesystem>

#include "lib/base/result.hpp"

namespace wheelyard::registry {

// `pages`: DIR/upstream, also while a server uses it. Without pages the backup gets no such file.
[[nodiscard]] base::Status save_suppliers(const std::filesystem::path& pages,
                                          const std::filesystem::path& backup);

// Nothing for a backup of an earlier version, which has no such file. Pages that are there stay. Error
// "upstream.suppliers_file".
[[nodiscard]] base::Status restore_suppliers(const std::filesystem::path& backup,
                                             const std::filesystem::path& pages);

}  // namespace wheelyard::registry
