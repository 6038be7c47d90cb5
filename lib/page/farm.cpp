#include "lib/page/farm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <utility>

#include "lib/base/digest/digest.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::page {
namespace {

constexpr std::size_t colour_chars = 7;  // "#rrggbb"
constexpr std::size_t hash_chars = 12;
constexpr double min_contrast = 4.5;

struct Ground {
    std::string_view colour;
    std::string_view name;
};
// --ground, --soft, --accent-soft and --paper of assets/style.css; the test compares them.
constexpr std::array<Ground, 4> light_grounds = {
    {{"#f6f7f9", "page"}, {"#eef1f5", "box"}, {"#e3eefb", "mark"}, {"#ffffff", "card"}}};
constexpr std::array<Ground, 4> dark_grounds = {
    {{"#11141a", "page"}, {"#222936", "box"}, {"#1c2f4a", "mark"}, {"#191e27", "card"}}};

// Likewise, its --accent.
constexpr std::string_view our_light_accent = "#0b57a4";
constexpr std::string_view our_dark_accent = "#8fc0f8";

std::optional<std::array<std::uint8_t, 3>> parse_colour(std::string_view text) {
    if (text.size() != colour_chars || text.front() != '#') return std::nullopt;
    const auto bytes = base::decode_hex(base::ascii_lower(text.substr(1)));
    if (!bytes) return std::nullopt;
    return std::array{static_cast<std::uint8_t>((*bytes)[0]), static_cast<std::uint8_t>((*bytes)[1]),
                      static_cast<std::uint8_t>((*bytes)[2])};
}

// WCAG 2.2, "relative luminance": 0 is black, 1 is white.
double luminance(const std::array<std::uint8_t, 3>& colour) {
    const auto linear = [](std::uint8_t value) {
        const double share = value / 255.0;
        return share <= 0.04045 ? share / 12.92 : std::pow((share + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(colour[0]) + 0.7152 * linear(colour[1]) + 0.0722 * linear(colour[2]);
}

// WCAG 2.2, "contrast ratio": 1 to 21.
double contrast(const std::array<std::uint8_t, 3>& a, const std::array<std::uint8_t, 3>& b) {
    const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
    return (lighter + 0.05) / (darker + 0.05);
}

// Text on a ground of this colour: whichever of white and near-black contrasts more.
std::string_view text_on(std::string_view colour) {
    constexpr std::string_view white = "#ffffff";
    constexpr std::string_view black = "#0d1520";
    const auto ground = *parse_colour(colour);
    return contrast(ground, *parse_colour(white)) >= contrast(ground, *parse_colour(black)) ? white : black;
}

// What is the first in the light scheme and the second in the dark one.
std::string light_dark(std::string_view light, std::string_view dark) {
    return "light-dark(" + std::string(light) + ", " + std::string(dark) + ")";
}

}  // namespace

std::string colour_fault(std::string_view colour, Scheme scheme) {
    const auto parsed = parse_colour(colour);
    if (!parsed) return "a colour has the form #rrggbb, with hexadecimal digits";
    for (const Ground& ground : scheme == Scheme::light ? light_grounds : dark_grounds) {
        const double ratio = contrast(*parsed, *parse_colour(ground.colour));
        if (ratio >= min_contrast) continue;
        std::array<char, 8> shown{};
        std::snprintf(shown.data(), shown.size(), "%.1f", std::floor(ratio * 10) / 10);
        return "text of this colour has a contrast of " + std::string(shown.data()) + " on the " +
               std::string(ground.name) + " (" + std::string(ground.colour) +
               "); readers need 4.5: choose a " + (scheme == Scheme::light ? "darker" : "lighter") + " one";
    }
    return {};
}

std::string render_farm_style(std::string_view light, std::string_view dark) {
    if (light.empty() && dark.empty()) return {};
    if (light.empty()) light = our_light_accent;
    if (dark.empty()) dark = our_dark_accent;
    const std::string accent = light_dark(light, dark);
    return ":root { --accent: " + accent + "; --bold: " + accent +
           "; --on-bold: " + light_dark(text_on(light), text_on(dark)) + "; }\n";
}

std::string farm_file_name(std::string_view stem, std::string_view extension, std::string_view bytes) {
    std::string name(stem);
    return name.append(".").append(base::sha256_hex(bytes).substr(0, hash_chars)).append(extension);
}

bool is_farm_file_name(std::string_view name) {
    for (const auto& [stem, extension] : {std::pair(std::string_view("farm."), std::string_view(".css")),
                                          {"logo.", ".svg"},
                                          {"logo.", ".png"}}) {
        if (name.size() == stem.size() + hash_chars + extension.size() && name.starts_with(stem) &&
            name.ends_with(extension))
            return base::decode_hex(name.substr(stem.size(), hash_chars)).has_value();
    }
    return false;
}

std::string_view farm_file_type(std::string_view name) {
    if (name.ends_with(".css")) return "text/css; charset=utf-8";
    return name.ends_with(".svg") ? "image/svg+xml" : "image/png";
}

}  // namespace wheelyard::page
