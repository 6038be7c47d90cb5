// Compares a page of docs/formats with the reader that it describes, in both directions: the reader accepts
// the page's example, which uses every key, so the page has no unknown key; and the page's table lists every
// key that the reader requests.
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

// Finds every key in a call such as table.string_or("key", …) in a reader's source.
inline std::vector<std::string> keys_read_by(const std::string& source) {
    static const std::vector<std::string> getters = {
        "string",     "integer",    "path",      "table",          "string_or", "integer_or", "path_if",
        "strings_or", "boolean_or", "choice_or", "table_or_empty", "tables",    "string_map"};
    std::vector<std::string> keys;
    for (const auto& getter : getters) {
        const std::string call = "." + getter + "(\"";
        for (auto at = source.find(call); at != std::string::npos; at = source.find(call, at)) {
            at += call.size();
            keys.push_back(source.substr(at, source.find('"', at) - at));
        }
    }
    return keys;
}

inline void check_documented(const std::string& page, const std::string& source) {
    const auto keys = keys_read_by(source);
    CHECK(keys.size() > 5);
    for (const auto& key : keys) {
        const bool found = page.find("`" + key + "`") != std::string::npos ||
                           page.find("." + key + "`") != std::string::npos ||
                           page.find("[" + key + "]") != std::string::npos;
        CHECK_MESSAGE(found, "missing from the page: " << key);
    }
}

}  // namespace wheelyard::builder::testing
