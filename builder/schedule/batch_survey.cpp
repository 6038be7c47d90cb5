#include "builder/schedule/batch_survey.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::builder {

std::vector<AccountPair> accounts_by_kind(const std::vector<std::string>& accounts) {
    std::vector<AccountPair> pairs;
    for (const auto& account : accounts) {
        for (const std::string_view ending : {"-gpu", "_g"}) {  // Pawsey's, NERSC's
            if (!account.ends_with(ending)) continue;
            const std::string cpu = account.substr(0, account.size() - ending.size());
            if (std::find(accounts.begin(), accounts.end(), cpu) != accounts.end())
                pairs.push_back({cpu, account});
        }
    }
    return pairs;
}

bool lists_any(std::string_view list, const std::vector<std::string>& names) {
    const auto listed = base::split(list, ',');
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return std::any_of(listed.begin(), listed.end(), [&](auto one) { return base::trim(one) == name; });
    });
}

}  // namespace wheelyard::builder
