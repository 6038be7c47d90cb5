// The disk space that a site needs, computed without checking the machine.
#include "builder/site_check.hpp"

#include <doctest/doctest.h>

#include "lib/base/limits.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("a site that builds sdists needs less space than one that clones") {
    Site site;
    Want want;
    want.package = "demo";
    site.wants.push_back(want);
    Recipes recipes;
    CHECK(min_work_bytes(site, recipes) == 2 * base::gib);
    Recipe other = default_recipe("torch");
    other.source = SourceKind::git;
    recipes.add(other);  // not wanted here
    CHECK(min_work_bytes(site, recipes) == 2 * base::gib);
    site.wants.front().package = "torch";
    CHECK(min_work_bytes(site, recipes) == 20 * base::gib);
}

}  // namespace
}  // namespace wheelyard::builder
