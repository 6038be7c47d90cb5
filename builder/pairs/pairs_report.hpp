// What `pairs check` and `pairs update` print.
#pragma once

#include <filesystem>
#include <string>

#include "builder/pairs/proposals.hpp"

namespace wheelyard::builder {

[[nodiscard]] std::string render_comparison(const PairComparison& comparison);
// {"table": …, "agreeing": 84, "lines": [{"finding": "proposed", "package": …, "row": "{ package = …", …}]}
[[nodiscard]] std::string render_comparison_json(const PairComparison& comparison,
                                                 const std::filesystem::path& table);

}  // namespace wheelyard::builder
