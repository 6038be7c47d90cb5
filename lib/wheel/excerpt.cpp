#include "lib/wheel/excerpt.hpp"

#include "lib/base/text/utf8.hpp"
#include "lib/wheel/limits.hpp"

namespace wheelyard::wheel {

std::string excerpt(std::string_view text) {
    const bool cut = text.size() > max_excerpt_bytes;
    text = base::cut_utf8(text, max_excerpt_bytes);
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
