#include "builder/attempt/attempt_names.hpp"

#include <set>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

base::Result<std::string> complete_name(const std::string& name, const std::vector<Attempt>& attempts,
                                        const std::function<bool(const Attempt&)>& counts) {
    std::set<std::string> cells;
    std::set<std::string> ids;
    for (const auto& attempt : attempts) {
        if (attempt.asked.cell == name || attempt.id == name) return name;
        if (name.empty() || !counts(attempt)) continue;
        if (attempt.asked.cell.find(name) != std::string::npos) cells.insert(attempt.asked.cell);
        if (attempt.id.find(name) != std::string::npos) ids.insert(attempt.id);
    }
    const auto& found = cells.empty() ? ids : cells;
    if (found.empty()) return name;
    if (found.size() == 1) return *found.begin();
    constexpr std::size_t max_named = 8;
    std::vector<std::string> named(found.begin(), found.end());
    const std::string more = named.size() > max_named ? ", …" : "";
    if (named.size() > max_named) named.resize(max_named);
    return base::fail("name.ambiguous", "Several cells have this in their name", name,
                      "give one of " + base::join(named, ", ") + more);
}

}  // namespace wheelyard::builder
