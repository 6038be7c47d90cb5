// What a wheel's platform tags say about where it runs.
#include "indexer/avail_wheels/candidate.hpp"

#include <set>
#include <utility>

#include "lib/base/text.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::avail_wheels {

Candidate make_candidate(wheel::WheelFilename wheel, simple::FileLink link, std::string arch) {
    Candidate candidate;
    candidate.key = wheel::escape_name(wheel.project);
    candidate.arch = arch.empty() ? arch_of_platforms(wheel) : std::move(arch);
    candidate.wheel = std::move(wheel);
    candidate.link = std::move(link);
    return candidate;
}

std::string arch_of_platforms(const wheel::WheelFilename& wheel) {
    if (wheel.platforms.size() == 1 && wheel.platforms.front() == "any") return "generic";
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
    if (tags.size() == 1) return tags.front();
    const std::set<std::string> sorted(tags.begin(), tags.end());
    return base::join({sorted.begin(), sorted.end()}, ",");
}

}  // namespace wheelyard::avail_wheels
