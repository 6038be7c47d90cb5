// A commented site.toml from what a login node reports. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/survey/site_request.hpp"
#include "builder/survey/survey.hpp"
#include "lib/base/limits.hpp"

namespace wheelyard::builder {

inline constexpr std::uint64_t min_build_bytes = 2 * base::gib;  // a work folder's, to build sdists

struct SiteDraft {
    std::string text;
    std::vector<std::string>
        fill_in;  // what a person must decide before `site check` passes; marked in the text
};

[[nodiscard]] SiteDraft draft_site(const Survey& survey, const SiteRequest& request);

}  // namespace wheelyard::builder
