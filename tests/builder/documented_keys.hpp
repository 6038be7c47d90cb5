// Files of the repository for tests, and the examples in its pages.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder::testing {

inline std::string read_repository_file(const std::string& path) {
    const auto text = base::read_file(std::filesystem::path(WHEELYARD_TEST_DATA) / ".." / path, base::mib);
    REQUIRE_MESSAGE(text.has_value(), text.error().text());
    return *text;
}

// Extracts the ```toml blocks of a page.
inline std::vector<std::string> toml_blocks(const std::string& page) {
    std::vector<std::string> blocks;
    constexpr std::string_view open = "```toml\n";
    for (auto at = page.find(open); at != std::string::npos; at = page.find(open, at)) {
        at += open.size();
        blocks.push_back(page.substr(at, page.find("```", at) - at));
    }
    return blocks;
}

}  // namespace wheelyard::builder::testing
