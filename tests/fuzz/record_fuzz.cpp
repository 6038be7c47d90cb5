// RECORD: parsed files survive a round trip.
#include <cstdlib>

#include "lib/wheel/record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::wheel;
    const auto rows = parse_record(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!rows) return 0;
    const auto text = render_record(*rows);
    const auto again = parse_record(text);
    if (!again || again->size() != rows->size() || render_record(*again) != text) std::abort();
    return 0;
}
