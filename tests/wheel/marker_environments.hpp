// The environments at the start of golden/markers.txt, and the value of a marker in each of them.
#pragma once

#include "lib/wheel/marker.hpp"
#include "tests/wheel/golden_table.hpp"

namespace wheelyard::wheel::test {

// Parses the leading rows of `name=value` fields.
inline std::vector<MarkerEnvironment> marker_environments(const std::vector<Row>& rows) {
    std::vector<MarkerEnvironment> environments;
    for (const auto& row : rows) {
        if (row.size() < 3) break;
        MarkerEnvironment environment;
        for (const auto& field : row) {
            const auto equals = field.find('=');
            environment[field.substr(0, equals)] = field.substr(equals + 1);
        }
        environments.push_back(std::move(environment));
    }
    REQUIRE(environments.size() == 6);
    return environments;
}

inline std::string verdicts(const Marker& marker, const std::vector<MarkerEnvironment>& environments) {
    std::string text;
    for (const auto& environment : environments)
        text += marker.evaluate(environment) ? '1' : '0';
    return text;
}

}  // namespace wheelyard::wheel::test
