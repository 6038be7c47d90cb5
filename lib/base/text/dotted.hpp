// "2.36" or "550.54.15": numbers with dots between them, as of a driver, a C library or a toolkit. Not a PEP
// 440 version.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelyard::base {

inline constexpr std::size_t max_dotted_numbers = 6;  // driver versions have three

// Compared number by number; missing ones are 0.
struct Dotted {
    std::vector<int> numbers;
    [[nodiscard]] static std::optional<Dotted> parse(std::string_view text);  // digits and dots only
    [[nodiscard]] std::string text() const;
    [[nodiscard]] int at(std::size_t position) const {
        return position < numbers.size() ? numbers[position] : 0;
    }
    std::strong_ordering operator<=>(const Dotted& other) const;
    bool operator==(const Dotted& other) const { return (*this <=> other) == 0; }
};

}  // namespace wheelyard::base
