#include "lib/base/text/http_date.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "lib/base/text/text.hpp"

namespace wheelyard::base {

std::optional<UnixMicros> parse_http_date(std::string_view text) {
    static constexpr std::array<std::string_view, 12> months{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    text = trim(text);
    if (text.size() != 29 || text.substr(3, 2) != ", " || text[7] != ' ' || text[11] != ' ' ||
        text[16] != ' ' || text[19] != ':' || text[22] != ':' || text.substr(25) != " GMT")
        return std::nullopt;
    const auto month = std::find(months.begin(), months.end(), text.substr(8, 3));
    const auto day = parse_decimal(text.substr(5, 2));
    const auto year = parse_decimal(text.substr(12, 4));
    const auto hour = parse_decimal(text.substr(17, 2));
    const auto minute = parse_decimal(text.substr(20, 2));
    const auto second = parse_decimal(text.substr(23, 2));
    if (month == months.end() || !day || !year || !hour || !minute || !second) return std::nullopt;
    if (*hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    const std::chrono::year_month_day date{
        std::chrono::year(static_cast<int>(*year)),
        std::chrono::month(static_cast<unsigned>(month - months.begin() + 1)),
        std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    const auto of_day = static_cast<std::int64_t>(*hour * 3600 + *minute * 60 + *second);
    return (days * 86'400 + of_day) * 1'000'000;
}

}  // namespace wheelyard::base
