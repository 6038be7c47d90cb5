// Ranges of characters by width. Only ranges that terminal fonts cover; neighbours are joined if no assigned
// character lies between them.
#include "indexer/avail_wheels/table/display_width.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "lib/base/text/utf8.hpp"

namespace wheelyard::avail_wheels {

namespace {

struct Range {
    char32_t first;
    char32_t last;
};
constexpr std::array<Range, 27> zero_width{{
    {0x0300, 0x036F}, {0x0483, 0x0489},   {0x0591, 0x05BD}, {0x0610, 0x061A}, {0x064B, 0x065F},
    {0x0670, 0x0670}, {0x06D6, 0x06DC},   {0x0900, 0x0902}, {0x093A, 0x093A}, {0x093C, 0x093C},
    {0x0941, 0x0948}, {0x094D, 0x094D},   {0x0E31, 0x0E31}, {0x0E34, 0x0E3A}, {0x0E47, 0x0E4E},
    {0x1AB0, 0x1ACE}, {0x1DC0, 0x1DFF},   {0x200B, 0x200F}, {0x2028, 0x202E}, {0x2060, 0x2063},
    {0x20D0, 0x20F0}, {0x302A, 0x302D},   {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F},
    {0xFEFF, 0xFEFF}, {0xE0100, 0xE01EF},
}};
constexpr std::array<Range, 36> two_wide{{
    {0x1100, 0x115F},   {0x231A, 0x231B}, {0x2329, 0x232A}, {0x23E9, 0x23EC}, {0x23F0, 0x23F0},
    {0x23F3, 0x23F3},   {0x25FD, 0x25FE}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x26A1, 0x26A1},
    {0x26BD, 0x26BE},   {0x26C4, 0x26C5}, {0x26D4, 0x26D4}, {0x2705, 0x2705}, {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
    {0x2B50, 0x2B50},   {0x2B55, 0x2B55}, {0x2E80, 0x3029}, {0x302E, 0x303E}, {0x3041, 0x3098},
    {0x309B, 0x4DBF},   {0x4E00, 0xA4CF}, {0xA960, 0xA97C}, {0xAC00, 0xD7A3}, {0xF900, 0xFAFF},
    {0xFE10, 0xFE19},   {0xFE30, 0xFE6F}, {0xFF01, 0xFF60}, {0xFFE0, 0xFFE6}, {0x1F300, 0x1FAFF},
    {0x20000, 0x3FFFD},
}};

template <std::size_t Size>
bool is_in(const std::array<Range, Size>& ranges, char32_t character) {
    const auto* found = std::lower_bound(ranges.begin(), ranges.end(), character,
                                         [](const Range& range, char32_t c) { return range.last < c; });
    return found != ranges.end() && character >= found->first;
}

}  // namespace

std::size_t display_width(std::string_view text) {
    const bool is_ascii = std::none_of(text.begin(), text.end(), [](char c) { return c < 0; });
    if (is_ascii) return text.size();
    std::size_t width = 0;
    while (!text.empty()) {
        // A byte that is not UTF-8 takes one column.
        const auto character = base::decode_utf8(text).value_or(base::Utf8Character{U'?', 1});
        text.remove_prefix(character.bytes);
        if (is_in(zero_width, character.code)) continue;
        width += is_in(two_wide, character.code) ? 2U : 1U;
    }
    return width;
}

}  // namespace wheelyard::avail_wheels
