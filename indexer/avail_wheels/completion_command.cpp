// avail_wheels --complete-name: the projects that a shell's completion offers; only from what is cached.
#include <ostream>

#include "indexer/avail_wheels/commands.hpp"
#include "indexer/avail_wheels/find_wheels.hpp"
#include "indexer/avail_wheels/source/catalogue_cache.hpp"
#include "indexer/avail_wheels/source/source.hpp"

namespace wheelyard::avail_wheels {

int answer_completion(const Options& options, const CompletionMode& mode, const World& world,
                      std::ostream& out) {
    std::optional<simple::Catalogue> catalogue;
    if (options.source.index_url.empty()) {
        if (const auto folder = folder_with_catalogue(options.source.wheelhouse); !folder.empty()) {
            if (auto opened = simple::Catalogue::open(folder)) catalogue = std::move(*opened);
        }
    } else if (auto answer =
                   fetch_catalogue(world.get, options.source.index_url, cache_folder(world.environment),
                                   *world.clock, Freshness::cached)) {
        catalogue = std::move(answer->catalogue);
    }
    if (!catalogue) return 0;
    const auto names = projects_of_catalogue(*catalogue, mode.start);
    for (const auto& name : names.value_or(std::vector<std::string>{}))
        out << name << '\n';
    return 0;
}

}  // namespace wheelyard::avail_wheels
