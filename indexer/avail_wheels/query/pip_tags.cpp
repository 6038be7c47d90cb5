// A process-wide cache of tag sets.
#include "indexer/avail_wheels/query/pip_tags.hpp"

#include <map>
#include <tuple>

namespace wheelyard::avail_wheels {

const PipTags& supported_tags_of(const wheel::Environment& environment) {
    using Key = std::tuple<int, bool, bool, std::string, int, int, int, int>;
    static std::map<Key, PipTags> made;
    const Key key{environment.python_minor, environment.free_threaded, environment.cpython,
                  environment.machine,      environment.glibc_major,   environment.glibc_minor,
                  environment.musl_major,   environment.musl_minor};
    const auto [place, is_new] = made.try_emplace(key);
    if (is_new) {
        for (auto& tag : wheel::supported_tags(environment)) {
            place->second.abis.emplace(tag.python, tag.abi);
            place->second.tags.insert(std::move(tag));
        }
    }
    return place->second;
}

}  // namespace wheelyard::avail_wheels
