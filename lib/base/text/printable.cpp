#include "lib/base/text/printable.hpp"

#include "lib/base/text/utf8.hpp"

namespace wheelyard::base {
namespace {

// The characters that change the direction or the order of the text around them (Unicode, Bidi_Control), and the
// line and paragraph separators.
bool is_bidi_control(char32_t code) {
    return code == 0x061C || code == 0x200E || code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x2069);
}

bool is_control(char32_t code) {
    if (code == '\n' || code == '\t') return false;
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || is_bidi_control(code);
}

}  // namespace

std::string printable(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        // A byte that is not UTF-8 counts as a character of Latin-1, as on a terminal that shows Latin-1.
        const Utf8Character latin{static_cast<unsigned char>(text.front()), 1};
        const Utf8Character character = decode_utf8(text).value_or(latin);
        shown += is_control(character.code) ? "?" : text.substr(0, character.bytes);
        text.remove_prefix(character.bytes);
    }
    return shown;
}

}  // namespace wheelyard::base
