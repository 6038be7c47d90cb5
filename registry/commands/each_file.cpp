#include "registry/commands/each_file.hpp"

#include <vector>

#include "lib/base/text/text.hpp"
#include "registry/database/store.hpp"
#include "registry/store/index_list.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t rows_at_once = 500;

base::Status for_each_stored(const catalog::Catalog& catalog, const std::string& name,
                             const std::function<base::Status(const catalog::FileRow&)>& use) {
    std::string after;
    while (true) {
        WHEELYARD_ASSIGN(const auto rows, catalog.files_after(name, after, rows_at_once));
        for (const catalog::FileRow& row : rows)
            WHEELYARD_TRY(use(row));
        if (rows.size() < rows_at_once) return {};
        after = rows.back().filename;
    }
}

}  // namespace

base::Status for_each_file(const RegistryConfig& config, const std::string& index,
                           const std::function<base::Status(const catalog::FileRow&)>& use) {
    if (!index.empty() && config.find_index(index) == nullptr)
        return base::fail("index.unknown", "There is no index with this name", index,
                          "configured: " + base::join(config.index_names(), ", "));
    WHEELYARD_ASSIGN(const auto catalog, database::Store(config.database()).reader());
    for (const IndexConfig& one : config.indexes) {
        if (!index.empty() && one.name != index) continue;
        for (const std::string& name : one.stored_names())
            WHEELYARD_TRY(for_each_stored(*catalog, name, use));
    }
    return {};
}

}  // namespace wheelyard::registry
