// METADATA, WHEEL and their headers.
#include <cstdlib>

#include "lib/wheel/metadata.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::wheel;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto headers = parse_headers(text)) {
        for (const auto& [name, value] : headers->fields) {
            if (headers->first(name) == nullptr || headers->all(name).empty()) std::abort();
        }
        if (!text.ends_with(headers->body)) std::abort();
    }
    if (const auto metadata = parse_metadata(text)) {
        if (metadata->name.empty() || metadata->version.release().empty()) std::abort();
    }
    Faults faults;
    if (const auto metadata = parse_metadata(text, &faults)) {
        if (faults.empty() != parse_metadata(text).has_value()) std::abort();
        if (metadata->name.empty() || metadata->version.release().empty()) std::abort();
    } else if (parse_metadata(text)) {
        std::abort();
    }
    faults.clear();
    if (parse_wheel_info(text, &faults) && faults.empty() != parse_wheel_info(text).has_value()) std::abort();
    if (const auto info = parse_wheel_info(text)) {
        if (info->tags.empty()) std::abort();
    }
    return 0;
}
