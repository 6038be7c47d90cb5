// Records of OSV, which an operator brings, and package URLs of SBOMs.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "registry/commands/advisories/advisory.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::advisories;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto package = package_of(text, "1.0"); package && package->name.empty()) std::abort();
    const auto advisory = parse_advisory(text);
    if (!advisory) return 0;
    for (const Affected& one : advisory->affected) {
        for (const auto& range : one.ranges)
            for (const Event& event : range) {
                (void)judge(one, event.version);
                const auto itself = compare_versions(one.ecosystem->order, event.version, event.version);
                if (itself && *itself != 0) std::abort();
            }
        for (const auto& version : one.versions)
            if (one.release.empty() && one.ranges.empty() && judge(one, version).impact != Impact::affected)
                std::abort();
    }
    return 0;
}
