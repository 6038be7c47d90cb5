// A TOML document as a tree that remembers where each key stands and which keys were asked for. Of use to
// toml.cpp alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::io {

struct TomlPlace {
    std::uint32_t line = 1, column = 1;
};

struct TomlOther {
    const char* what;  // "a date": kinds of value that no key of ours takes
};

// The mutable members change while a const tree is read; a document belongs to one thread.
struct TomlNode {
    using Array = std::vector<TomlNode>;
    struct Table {
        std::vector<TomlNode> entries;
    };

    std::string key;  // in its table
    TomlPlace key_place;
    TomlPlace place;  // of the value
    std::variant<TomlOther, std::string, std::int64_t, double, bool, Array, Table> value =
        TomlOther{"nothing"};
    mutable std::set<std::string, std::less<>> asked;  // keys, of a table
    mutable bool read = false;                         // somebody asked for this key
    mutable bool opened = false;                       // handed out as a TomlTable

    [[nodiscard]] const TomlNode* find(std::string_view name) const;
};

// "file:line:column", as every message begins.
[[nodiscard]] std::string render_place(const std::filesystem::path& file, TomlPlace place);
// Error "config.syntax".
[[nodiscard]] base::Result<TomlNode> parse_toml_tree(std::string_view text,
                                                     const std::filesystem::path& file);

}  // namespace wheelyard::io
