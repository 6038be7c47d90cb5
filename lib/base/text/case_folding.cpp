#include "lib/base/text/case_folding.hpp"

#include <array>

#include "lib/base/text/text.hpp"

namespace wheelyard::base {

namespace {

// Capital letters of Unicode 15 that are two bytes of UTF-8, with the distance to their small ones.
struct Capitals {
    unsigned first;
    unsigned last;
    unsigned step;  // 2: capital and small letters take turns
    unsigned distance;
};
constexpr std::array<Capitals, 15> capitals{{{0xC0, 0xD6, 1, 32},
                                             {0xD8, 0xDE, 1, 32},
                                             {0x100, 0x12E, 2, 1},
                                             {0x132, 0x136, 2, 1},
                                             {0x139, 0x147, 2, 1},
                                             {0x14A, 0x176, 2, 1},
                                             {0x179, 0x17D, 2, 1},
                                             {0x386, 0x386, 1, 38},
                                             {0x388, 0x38A, 1, 37},
                                             {0x38C, 0x38C, 1, 64},
                                             {0x38E, 0x38F, 1, 63},
                                             {0x391, 0x3A1, 1, 32},
                                             {0x3A3, 0x3AB, 1, 32},
                                             {0x400, 0x40F, 1, 80},
                                             {0x410, 0x42F, 1, 32}}};

unsigned small_letter(unsigned code) {
    if (code == 0x130) return 'i';
    if (code == 0x178) return 0xFF;
    for (const Capitals& range : capitals) {
        if (code >= range.first && code <= range.last && (code - range.first) % range.step == 0)
            return code + range.distance;
    }
    return code;
}

}  // namespace

std::string fold_case(std::string_view text) {
    std::string made;
    made.reserve(text.size());
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto lead = static_cast<unsigned char>(text[at]);
        const unsigned next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0U;
        if (lead < 0xC3 || lead > 0xD1 || (next & 0xC0U) != 0x80U) {
            made += ascii_lower(text.substr(at, 1));
            continue;
        }
        ++at;
        const unsigned code = small_letter((lead & 0x1FU) << 6U | (next & 0x3FU));
        if (code < 0x80) {
            made += static_cast<char>(code);
            continue;
        }
        made += static_cast<char>(0xC0U | code >> 6U);
        made += static_cast<char>(0x80U | (code & 0x3FU));
    }
    return made;
}

}  // namespace wheelyard::base
