#include "lib/base/printable.hpp"

namespace wheelyard::base {

std::string printable(std::string_view text) {
    std::string shown;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
        const bool is_c1 = byte == 0xC2 && next >= 0x80 && next < 0xA0;  // U+0080 to U+009F in UTF-8
        const bool is_control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F || is_c1;
        shown += is_control ? '?' : text[i];
        if (is_c1) ++i;
    }
    return shown;
}

}  // namespace wheelyard::base
