// RECORD: parsed files survive a round trip; a lenient reader agrees on them, and what it keeps of others is valid.
#include <cstdlib>

#include "lib/wheel/record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::wheel;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto rows = parse_record(bytes);
    Faults faults;
    const auto lenient = parse_record(bytes, &faults);
    if (rows && (!lenient || lenient->size() != rows->size() || !faults.empty())) std::abort();
    if (lenient && !parse_record(render_record(*lenient))) std::abort();
    if (!rows) return 0;
    const auto text = render_record(*rows);
    const auto again = parse_record(text);
    if (!again || again->size() != rows->size() || render_record(*again) != text) std::abort();
    return 0;
}
