// Cells of builds ─► requirements.
#include "registry/prefetch/site_wants.hpp"

#include <set>

#include "lib/wheel/name.hpp"

namespace wheelyard::registry {

std::vector<SiteWant> wants_of(const status::IndexStatus& status) {
    std::set<SiteWant> wants;
    for (const status::SiteReport& site : status.sites) {
        for (const status::CellReport& cell : site.cells) {
            const auto version = wheel::Version::parse(cell.version);
            if (!cell.purpose.empty() || !version || !wheel::is_valid_name(cell.package)) continue;
            wants.insert({wheel::normalize_name(cell.package), version->public_text(), cell.python});
        }
    }
    return {wants.begin(), wants.end()};
}

}  // namespace wheelyard::registry
