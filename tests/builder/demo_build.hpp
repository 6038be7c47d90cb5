// The inputs of a build: a package named demo, a site with one Python; and helpers that compare the lines of
// its scripts.
#pragma once

#include <doctest/doctest.h>

#include <initializer_list>
#include <string>

#include "builder/script/script.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {

struct DemoBuild {
    Site site;
    Recipe recipe = default_recipe("demo");
    Attempt attempt;

    DemoBuild() {
        attempt.asked.package = "demo";
        attempt.asked.version = "1.0";
        attempt.source.folder = "demo-1.0";
        attempt.source.build_requires = {"flit_core"};
    }
    [[nodiscard]] ScriptInput input() const {
        return {site, recipe, attempt, "/usr/bin/python3", {"/work/attempts/w1"}};
    }
};

// Checks that the script contains each line, in this order.
inline void check_order(const std::string& script, std::initializer_list<const char*> lines) {
    std::size_t at = 0;
    for (const char* line : lines) {
        CAPTURE(line);
        CAPTURE(script);
        at = script.find(line, at);
        REQUIRE(at != std::string::npos);
    }
}

}  // namespace wheelyard::builder
