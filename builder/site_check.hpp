// `wheelyard-builder site check`: whether a site is as its file says, asked on the spot. Each line says what
// was found and, where it is wrong, what to do.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/environment.hpp"
#include "builder/recipe.hpp"
#include "builder/site.hpp"

namespace wheelyard::builder {

struct SiteLine {
    std::string what;  // "module gcc/12.2", "scheduler"
    bool good = false;
    std::string found;
    std::string advice;  // empty when good
};

// Changes nothing: what it writes it removes. Every question has a time limit.
[[nodiscard]] std::vector<SiteLine> check_site(const Site& site, const Recipes& recipes,
                                               const EnvironmentMap& environment);

[[nodiscard]] bool all_good(const std::vector<SiteLine>& lines);
[[nodiscard]] std::string render_site_lines(const std::vector<SiteLine>& lines);
[[nodiscard]] std::string render_site_lines_json(const std::string& site, const std::vector<SiteLine>& lines);

// What has to be free where the site builds: much for what is cloned, little for sdists. Pure.
[[nodiscard]] std::uint64_t min_work_bytes(const Site& site, const Recipes& recipes);

// The bash that loads the site's modules one by one and says "loaded NAME" or "missing NAME" of each. Pure.
[[nodiscard]] std::string render_module_check(const Site& site);

}  // namespace wheelyard::builder
