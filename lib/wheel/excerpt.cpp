// See excerpt.hpp.
#include "lib/wheel/excerpt.hpp"

#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {

std::string excerpt(std::string_view text) {
    const bool cut = text.size() > longest_excerpt_bytes;
    if (cut) {
        std::size_t end = longest_excerpt_bytes;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
            --end;
        text = text.substr(0, end);
    }
    std::string shown;
    shown.reserve(text.size() + 3);
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        shown += byte < 0x20 || byte == 0x7F ? '?' : c;
    }
    if (cut) shown += "…";
    return shown;
}

}  // namespace wheelyard::wheel
