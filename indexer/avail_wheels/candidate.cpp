// What a wheel's platform tags say about where it runs.
#include "indexer/avail_wheels/candidate.hpp"

#include <set>

#include "lib/base/text.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

std::string arch_of_platforms(const wheel::WheelFilename& wheel) {
    std::set<std::string> archs;
    for (const auto& text : wheel.platforms) {
        const wheel::Platform platform = wheel::parse_platform(text);
        if (platform.kind == wheel::PlatformKind::any) {
            archs.insert("generic");
        } else {
            archs.insert(platform.machine.empty() ? text : platform.machine);
        }
    }
    return base::join({archs.begin(), archs.end()}, ",");
}

std::string joined_tags(const std::vector<std::string>& tags) {
    const std::set<std::string> sorted(tags.begin(), tags.end());
    return base::join({sorted.begin(), sorted.end()}, ",");
}

}  // namespace wheelyard::avail_wheels
