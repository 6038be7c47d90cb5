// Reads the golden tables that oracle.py writes: a comment line, then one case per line with tab-separated
// fields.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <vector>

#include "lib/base/text/text.hpp"

namespace wheelyard::wheel::test {

using Row = std::vector<std::string>;

inline std::vector<Row> read_golden(const std::string& name) {
    std::ifstream in(WHEELYARD_TEST_DATA "/wheel/golden/" + name);
    std::vector<Row> rows;
    std::string line;
    std::getline(in, line);
    REQUIRE_MESSAGE(line.starts_with("# packaging "), name);
    while (std::getline(in, line)) {
        Row row;
        for (const auto field : base::split(line, '\t'))
            row.emplace_back(field);
        rows.push_back(std::move(row));
    }
    REQUIRE(!rows.empty());
    return rows;
}

}  // namespace wheelyard::wheel::test
