// Cells of builds ─► requirements.
#include "registry/upstream/prefetch/site_wants.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "lib/base/text/text.hpp"
#include "lib/wheel/name.hpp"
#include "lib/wheel/tags.hpp"

namespace wheelyard::registry {
namespace {

// As in the names of wheels; empty: the report does not say it, or not in the form of a platform.
std::string platform_of(const std::string& machine, const std::string& glibc) {
    const bool is_word = std::all_of(machine.begin(), machine.end(),
                                     [](char c) { return base::is_ascii_alnum(c) || c == '_'; });
    std::string platform = "manylinux_" + base::replace_all(glibc, ".", "_") + "_" + machine;
    const bool is_known =
        is_word && !machine.empty() && wheel::parse_platform(platform).kind == wheel::PlatformKind::manylinux;
    return is_known ? platform : std::string();
}

// The platforms of the site's nodes with the accelerator of the cell, or of all if it has none. A site without node types has
// the platform of its agent's host.
std::set<std::string> platforms_of(const status::SiteReport& site, const std::string& accelerator) {
    std::set<std::string> platforms;
    for (const status::NodeReport& node : site.nodes) {
        if (accelerator.empty() || node.accelerator == accelerator)
            platforms.insert(platform_of(node.machine, node.glibc));
    }
    if (platforms.empty()) platforms.insert(platform_of(site.machine, site.glibc));
    platforms.erase("");
    return platforms;
}

}  // namespace

std::vector<SiteWant> wants_of(const status::IndexStatus& status) {
    std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> platforms;
    for (const status::SiteReport& site : status.sites) {
        for (const status::CellReport& cell : site.cells) {
            const auto version = wheel::Version::parse(cell.version);
            if (!cell.purpose.empty() || !version || !wheel::is_valid_name(cell.package)) continue;
            platforms[{wheel::normalize_name(cell.package), version->public_text(), cell.python}].merge(
                platforms_of(site, cell.accelerator));
        }
    }
    std::vector<SiteWant> wants;
    for (const auto& [want, of_want] : platforms) {
        const auto& [package, version, python] = want;
        wants.push_back({package, version, python, {of_want.begin(), of_want.end()}});
    }
    return wants;
}

}  // namespace wheelyard::registry
