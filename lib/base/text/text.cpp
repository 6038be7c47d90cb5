// ASCII text operations.
#include "lib/base/text/text.hpp"

#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "lib/base/text/utf8.hpp"

namespace wheelyard::base {

bool is_ascii_alpha(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_ascii_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_ascii_alnum(char c) {
    return is_ascii_alpha(c) || is_ascii_digit(c);
}

namespace {

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

}  // namespace

std::string ascii_lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), lower);
    return out;
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front()))
        text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back()))
        text.remove_suffix(1);
    return text;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    parts.reserve(1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), separator)));
    for (;;) {
        const auto end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::vector<std::string_view> split_lines(std::string_view text) {
    auto lines = split(text, '\n');
    if (lines.back().empty()) lines.pop_back();
    for (auto& line : lines) {
        if (line.ends_with('\r')) line.remove_suffix(1);
    }
    return lines;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
    std::string out;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) out += separator;
        out += parts[i];
    }
    return out;
}

std::string replace_all(std::string_view text, std::string_view from, std::string_view to) {
    if (from.empty()) return std::string(text);
    std::string out;
    for (;;) {
        const auto at = text.find(from);
        out += text.substr(0, at);
        if (at == std::string_view::npos) return out;
        out += to;
        text.remove_prefix(at + from.size());
    }
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
    return value;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const auto character = decode_utf8(text);
        if (!character) return false;
        text.remove_prefix(character->bytes);
    }
    return true;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
    return ::fnmatch(std::string(pattern).c_str(), std::string(text).c_str(), FNM_NOESCAPE) == 0;
}

namespace {

// Optimal string alignment distance: insertions, deletions, substitutions, transpositions; case-insensitive.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j)
        row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::swap(before_last, last);
        std::swap(last, row);
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool same = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0u : 1u)});
            const bool swapped =
                i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
    }
    return row[b.size()];
}

}  // namespace

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
    constexpr std::size_t max_bytes = 128;  // bounds the work on hostile input
    if (word.size() > max_bytes) return std::nullopt;
    std::optional<std::string> best;
    std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
    for (const auto& candidate : candidates) {
        if (candidate.size() > max_bytes) continue;
        const auto distance = edit_distance(word, candidate);
        if (distance < best_distance && distance < std::max(word.size(), candidate.size())) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string render_bytes(std::uint64_t bytes) {
    static constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    std::size_t unit = 0;
    auto scaled = static_cast<long double>(bytes);
    // 1023.5 and more would round to "1024", so use the next unit.
    while (scaled >= (unit == 0 ? 1024.0L : 1023.5L) && unit + 1 < units.size()) {
        scaled /= 1024;
        ++unit;
    }
    const auto tenths = static_cast<std::uint64_t>(scaled * 10 + 0.5L);
    std::string out = std::to_string(tenths / 10);
    if (tenths >= 100) out = std::to_string(static_cast<std::uint64_t>(scaled + 0.5L));
    if (tenths < 100 && tenths % 10 != 0) out += "." + std::to_string(tenths % 10);
    return out + " " + units[unit];
}

std::string render_duration_ms(std::int64_t duration_ms) {
    if (duration_ms < 0) return "-" + render_duration_ms(duration_ms == INT64_MIN ? INT64_MAX : -duration_ms);
    const auto two_digits = [](std::int64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    const auto tenths = duration_ms / 100;
    if (tenths < 600) return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
    const auto seconds = duration_ms / 1000;
    if (seconds < 3600) return std::to_string(seconds / 60) + " min " + two_digits(seconds % 60) + " s";
    return std::to_string(seconds / 3600) + " h " + two_digits(seconds / 60 % 60) + " min";
}

}  // namespace wheelyard::base
