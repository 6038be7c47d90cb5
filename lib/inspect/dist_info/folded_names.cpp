// The idea: a letter that Unicode may spell as several code points (é, が, 각) is folded to one placeholder, in both spellings,
// so that no table of compositions is needed. Such a pair is rare enough to be reported without it.
#include "lib/inspect/dist_info/folded_names.hpp"

#include <algorithm>
#include <iterator>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/inspect/zip/code_points.hpp"

namespace wheelyard::inspect {
namespace {

// Accents, the voice marks of kana, vowels and last consonants of Hangul: they join the letter before.
constexpr CodePoints marks[] = {{0x300, 0x36f}, {0x1160, 0x11ff}, {0x3099, 0x309a}};
// Letters that also have a spelling with such marks, and their neighbours.
constexpr CodePoints composed[] = {{0xc0, 0x233},   {0x386, 0x390},   {0x3aa, 0x3b0},   {0x3ca, 0x3ce},
                                   {0x400, 0x40f},  {0x419, 0x419},   {0x439, 0x439},   {0x450, 0x45f},
                                   {0x4c1, 0x4f9},  {0x1100, 0x115f}, {0x1e00, 0x1fff}, {0x304b, 0x30ff},
                                   {0xac00, 0xd7a3}};

template <std::size_t count>
bool is_in(const CodePoints (&ranges)[count], char32_t point) {
    return std::any_of(std::begin(ranges), std::end(ranges),
                       [&](const CodePoints& range) { return point >= range.first && point <= range.last; });
}

char32_t lower(char32_t point) {
    const auto is_between = [&](char32_t first, char32_t last) { return point >= first && point <= last; };
    if (is_between('A', 'Z') || (is_between(0xc0, 0xde) && point != 0xd7) || is_between(0x391, 0x3a9) ||
        is_between(0x410, 0x42f))
        return point + 0x20;
    if (is_between(0x400, 0x40f)) return point + 0x50;
    const bool has_upper_first = is_between(0x100, 0x137) || is_between(0x14a, 0x177) ||
                                 is_between(0x460, 0x481) || is_between(0x1e00, 0x1e95) ||
                                 is_between(0x1ea0, 0x1eff);
    if (has_upper_first) return point | 1;
    if (is_between(0x139, 0x148) || is_between(0x179, 0x17e)) return point + (point & 1);
    return point;
}

bool is_ascii_name(std::string_view name) {
    return std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

std::u32string lower_points(std::string_view name) {
    std::u32string points;
    for (std::size_t at = 0; at < name.size();)
        points.push_back(lower(take_code_point(name, at)));
    return points;
}

}  // namespace

std::string folded_name(std::string_view name) {
    if (is_ascii_name(name) || !base::is_utf8(name)) return base::ascii_lower(name);
    constexpr char32_t placeholder = '?';
    std::u32string folded;
    for (const char32_t point : lower_points(name)) {
        if (is_in(marks, point) && !folded.empty() && folded.back() != '/')
            folded.back() = placeholder;
        else
            folded.push_back(is_in(composed, point) ? placeholder : point);
    }
    std::string key;
    for (const char32_t point : folded) {
        if (point < 0x80)
            key.push_back(static_cast<char>(point));
        else  // any bytes that are no ASCII
            for (const int shift : {14, 7, 0})
                key.push_back(static_cast<char>(0x80 | (point >> shift & 0x7f)));
    }
    return key;
}

bool may_be_one_file(std::string_view a, std::string_view b) {
    if (!base::is_utf8(a) || !base::is_utf8(b)) return base::ascii_lower(a) == base::ascii_lower(b);
    const std::u32string one = lower_points(a), other = lower_points(b);
    const auto has_mark = [](const std::u32string& points) {
        return std::any_of(points.begin(), points.end(), [](char32_t point) { return is_in(marks, point); });
    };
    return one == other || has_mark(one) != has_mark(other);
}

}  // namespace wheelyard::inspect
