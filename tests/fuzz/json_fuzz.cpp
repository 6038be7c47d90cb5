// Parsed values survive a round trip through rendering.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/io/json.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::io;
    const auto value =
        parse_json({reinterpret_cast<const char*>(data), size}, {.bytes = 1u << 20, .depth = 32});
    if (!value) return 0;
    for (const auto& text : {value->render(), value->render_pretty()}) {
        const auto again = parse_json(text);
        if (!again || *again != *value) std::abort();
    }
    return 0;
}
