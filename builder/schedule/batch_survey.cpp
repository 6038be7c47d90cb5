#include "builder/schedule/batch_survey.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

bool lists_any(std::string_view list, const std::vector<std::string>& names) {
    const auto listed = base::split(list, ',');
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return std::any_of(listed.begin(), listed.end(), [&](auto one) { return base::trim(one) == name; });
    });
}

}  // namespace wheelyard::builder
