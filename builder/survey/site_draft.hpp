// A commented site.toml from what a login node reports. Pure.
#pragma once

#include <string>
#include <vector>

#include "builder/survey/site_request.hpp"
#include "builder/survey/survey.hpp"

namespace wheelyard::builder {

struct SiteDraft {
    std::string text;
    std::vector<std::string>
        fill_in;  // what a person must decide before `site check` passes; marked in the text
};

[[nodiscard]] SiteDraft draft_site(const Survey& survey, const SiteRequest& request);

}  // namespace wheelyard::builder
