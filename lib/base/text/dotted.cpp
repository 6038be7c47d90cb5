#include "lib/base/text/dotted.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::base {

std::optional<Dotted> Dotted::parse(std::string_view text) {
    constexpr std::uint64_t max_number = 1'000'000;
    Dotted dotted;
    for (const auto part : split(text, '.')) {
        const auto number = parse_decimal(part);
        if (!number || *number > max_number || dotted.numbers.size() == max_dotted_numbers)
            return std::nullopt;
        dotted.numbers.push_back(static_cast<int>(*number));
    }
    return dotted;
}

std::string Dotted::text() const {
    std::string text;
    for (const int number : numbers)
        text += (text.empty() ? "" : ".") + std::to_string(number);
    return text;
}

std::strong_ordering Dotted::operator<=>(const Dotted& other) const {
    for (std::size_t i = 0; i < std::max(numbers.size(), other.numbers.size()); ++i) {
        if (const auto order = at(i) <=> other.at(i); order != 0) return order;
    }
    return std::strong_ordering::equal;
}

}  // namespace wheelyard::base
