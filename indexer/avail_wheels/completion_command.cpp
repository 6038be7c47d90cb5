// avail_wheels --complete-name: the projects that a shell's completion offers; only from what is cached.
#include <ostream>

#include "indexer/avail_wheels/commands.hpp"
#include "indexer/avail_wheels/find_wheels.hpp"
#include "indexer/avail_wheels/source/source.hpp"
#include "indexer/avail_wheels/source/wheel_list_cache.hpp"

namespace wheelyard::avail_wheels {

int answer_completion(const Options& options, const CompletionMode& mode, const World& world,
                      std::ostream& out) {
    std::optional<simple::WheelList> wheel_list;
    if (options.source.index_url.empty()) {
        if (const auto folder = folder_with_wheel_list(options.source.wheelhouse); !folder.empty()) {
            if (auto opened = simple::WheelList::open(folder)) wheel_list = std::move(*opened);
        }
    } else if (auto answer =
                   fetch_wheel_list(world.get, options.source.index_url, cache_folder(world.environment),
                                    *world.clock, Freshness::cached)) {
        wheel_list = std::move(answer->wheel_list);
    }
    if (!wheel_list) return 0;
    const auto names = projects_of_wheel_list(*wheel_list, mode.start);
    for (const auto& name : names.value_or(std::vector<std::string>{}))
        out << name << '\n';
    return 0;
}

}  // namespace wheelyard::avail_wheels
