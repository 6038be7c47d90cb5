// Changes of indexes over HTTP: what is accepted is a configuration that the file's reader accepts, and the same again as
// TOML.
#include <cstdint>
#include <string>
#include <string_view>

#include "registry/api/index_api.hpp"
#include "registry/config/index_tables.hpp"
#include "tests/fuzz/round_trip.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard;
    using registry::IndexEdit;
    static const std::string start = "config_version = 1\n";
    static const registry::RegistryConfig before =
        registry::parse_config(start + "[[index]]\nname = \"main\"\nquota_mib = 5\n", "/r/registry.toml")
            .value();
    const std::string_view body(reinterpret_cast<const char*>(data), size);
    for (const auto kind : {IndexEdit::Kind::create, IndexEdit::Kind::set}) {
        const auto order =
            registry::parse_index_order(body, kind, kind == IndexEdit::Kind::set ? "main" : "");
        if (!order) continue;
        const auto tables = registry::edit_tables(before.index_tables, order->edit);
        if (!tables) continue;
        const auto after = registry::with_indexes(before, *tables);
        if (!after) continue;
        static_cast<void>(registry::check_upstream_places(before, *after));
        static_cast<void>(registry::list_index_changes(before, *after));
        std::string text = start;
        for (const io::Json& table : tables->items())
            text += registry::render_table(table);
        const auto again = registry::parse_config(text, "/r/registry.toml");
        fuzz::require(again.has_value());
        fuzz::require(registry::list_index_changes(*after, *again).empty());
    }
    return 0;
}
