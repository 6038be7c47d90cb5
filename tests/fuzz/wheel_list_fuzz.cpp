// Wheel lists from a cache or a shared folder.
#include <cstdlib>
#include <fstream>

#include "lib/base/files/temp_dir.hpp"
#include "lib/simple/wheel_list.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    static const auto folder = *base::TempDir::make("wheelyard-catalogue-fuzz");
    {
        std::ofstream file(folder.path() / simple::wheel_list_name, std::ios::binary | std::ios::trunc);
        file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    }
    const auto wheel_list = simple::WheelList::open(folder.path());
    if (!wheel_list) return 0;
    const auto look = [&](const simple::WheelListView& project) {
        if (project.key.empty() || project.lines.size() > size) std::abort();
        const auto facts = project.part->facts(project.entry);
        if (facts && facts->size() > size) std::abort();
        (void)simple::parse_wheel_list_line(project.lines).file();
    };
    std::vector<std::string> keys;
    (void)wheel_list->visit_all(
        [&](std::string_view key) {
            keys.emplace_back(key);
            return true;
        },
        look);
    for (const auto& key : keys)
        (void)wheel_list->visit_one(key, look);
    return 0;
}
