// A process-wide cache of tag sets.
#include "indexer/avail_wheels/query/pip_tags.hpp"

#include <map>
#include <tuple>

namespace wheelyard::avail_wheels {

std::vector<wheel::Environment> environments_of(const Python& python) {
    constexpr const char* pypy_abis[] = {"pp73", "pp80"};
    wheel::Environment environment;
    environment.python_minor = python.minor;
    environment.free_threaded = python.free_threaded;
    environment.debug = python.debug;
    environment.cpython = !python.pypy;
    if (!python.pypy || !python.pypy_abi.empty()) {
        environment.pypy_abi = python.pypy_abi;
        return {environment};
    }
    std::vector<wheel::Environment> all;
    for (const char* abi : pypy_abis) {
        all.push_back(environment);
        all.back().pypy_abi = abi;
    }
    return all;
}

const PipTags& supported_tags_of(const wheel::Environment& environment) {
    using Key = std::tuple<int, bool, bool, bool, std::string, std::string, int, int, int, int>;
    static std::map<Key, PipTags> made;
    const Key key{environment.python_minor, environment.free_threaded, environment.debug,
                  environment.cpython,      environment.pypy_abi,      environment.machine,
                  environment.glibc_major,  environment.glibc_minor,   environment.musl_major,
                  environment.musl_minor};
    const auto [place, is_new] = made.try_emplace(key);
    if (is_new) {
        for (auto& tag : wheel::supported_tags(environment)) {
            place->second.abis.emplace(tag.python, tag.abi);
            if (tag.platform != "any") place->second.platforms.insert(tag.platform);
            place->second.tags.insert(std::move(tag));
        }
    }
    return place->second;
}

}  // namespace wheelyard::avail_wheels
