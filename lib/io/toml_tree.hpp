// A TOML document as a tree that records the position of each key and which keys were read. Used by toml.cpp
// and toml_json.cpp only.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::io {

struct TomlPosition {
    std::uint32_t line = 1, column = 1;
    std::string path = {};  // in a tree of JSON, which has no lines: "index.main.quota_mib"
};

struct TomlOther {
    const char* what;  // kinds of value that none of our keys accepts: "a date"
};

// The mutable members change while a const tree is read; use a document from one thread only.
struct TomlNode {
    using Array = std::vector<TomlNode>;
    struct Table {
        std::vector<TomlNode> entries;
    };

    std::string key;  // in its table
    TomlPosition key_place;
    TomlPosition place;  // of the value
    std::variant<TomlOther, std::string, std::int64_t, double, bool, Array, Table> value =
        TomlOther{"nothing"};
    mutable std::set<std::string, std::less<>> asked;  // the keys that the program asked for
    mutable bool read = false;                         // this key was read
    mutable bool opened = false;                       // returned as a TomlTable

    [[nodiscard]] const TomlNode* find(std::string_view name) const;
};

// "file:line:column", the start of every message; the path alone if there is one.
[[nodiscard]] std::string render_place(const std::filesystem::path& file, const TomlPosition& place);
// Error "config.syntax".
[[nodiscard]] base::Result<TomlNode> parse_toml_tree(std::string_view text,
                                                     const std::filesystem::path& file);

// A tree with the same keys, and back (toml_json.cpp). In paths, an array's table is called by its `name`.
[[nodiscard]] TomlNode tree_of_json(const Json& json, std::string path);
[[nodiscard]] Json json_of_tree(const TomlNode& node);

}  // namespace wheelyard::io
