// Wheel lists from a cache or a shared folder.
#include <cstdlib>
#include <fstream>

#include "lib/base/files/temp_dir.hpp"
#include "lib/simple/catalogue.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    static const auto folder = *base::TempDir::make("wheelyard-catalogue-fuzz");
    {
        std::ofstream file(folder.path() / simple::catalogue_name, std::ios::binary | std::ios::trunc);
        file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    }
    const auto catalogue = simple::Catalogue::open(folder.path());
    if (!catalogue) return 0;
    const auto look = [&](const simple::CatalogueView& project) {
        if (project.key.empty() || project.lines.size() > size) std::abort();
        const auto facts = project.part->facts(project.entry);
        if (facts && facts->size() > size) std::abort();
        (void)simple::parse_catalogue_line(project.lines);
    };
    std::vector<std::string> keys;
    (void)catalogue->visit_all(
        [&](std::string_view key) {
            keys.emplace_back(key);
            return true;
        },
        look);
    for (const auto& key : keys)
        (void)catalogue->visit_one(key, look);
    return 0;
}
