// The governor's history: parsed histories survive a round trip, and merging one into itself changes no peak.
#include <cstdlib>

#include "builder/governor/admission/history.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::governor;
    const auto history = parse_history(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!history) return 0;
    const auto text = render_history(*history);
    const auto again = parse_history(text);
    if (!again || again->size() != history->size() || render_history(*again) != text) std::abort();
    auto merged = *history;
    merge_history(merged, *again);
    for (const auto& [key, record] : *history) {
        if (merged.at(key).peak_bytes != record.peak_bytes) std::abort();
    }
    return 0;
}
