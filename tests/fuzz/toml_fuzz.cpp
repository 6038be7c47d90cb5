// A document is parsed or rejected; every getter is safe on it, and finish() reports the problems.
#include <cstdint>
#include <string_view>

#include "lib/io/toml.hpp"

namespace {

using wheelyard::io::TomlTable;

void read_all(TomlTable table, int depth) {
    constexpr int deepest = 8;
    for (const auto& key : table.keys()) {
        static_cast<void>(table.place(key));
        table.string_or(key, "");
        table.integer_or(key, 0, 0, 100);
        table.boolean_or(key, false);
        table.path_if(key);
        table.strings_or(key, {});
        table.choice_or(key, "a", {"a", "b"});
        table.string_map(key);
        if (depth == deepest) continue;
        read_all(table.table_or_empty(key), depth + 1);
        for (const auto& item : table.tables(key))
            read_all(item, depth + 1);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    auto document = wheelyard::io::TomlDocument::parse(text, "fuzz.toml");
    if (!document) return 0;
    auto root = document->root();
    root.string("name");
    root.table("registry").string("url");
    read_all(root, 0);
    static_cast<void>(document->finish());
    return 0;
}
