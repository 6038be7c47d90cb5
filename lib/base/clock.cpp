// The system clock, and rendering and parsing of times.
#include "lib/base/clock.hpp"

#include <time.h>

#include <cerrno>
#include <chrono>
#include <cstdio>

#include "lib/base/text/text.hpp"

namespace wheelyard::base {
namespace {

struct Civil {
    int year;
    unsigned month, day, weekday;  // weekday: 0 is Sunday
    int hour, minute, second, micros;
};

Civil civil_of(UnixMicros time) {
    using namespace std::chrono;
    const auto days = floor<std::chrono::days>(microseconds(time));
    const sys_days date{days};
    const year_month_day ymd{date};
    const auto rest = microseconds(time) - days;
    const auto seconds_of_day = static_cast<int>(rest.count() / second_us);
    return {int{ymd.year()},       unsigned{ymd.month()},
            unsigned{ymd.day()},   weekday{date}.c_encoding(),
            seconds_of_day / 3600, seconds_of_day / 60 % 60,
            seconds_of_day % 60,   static_cast<int>(rest.count() % second_us)};
}

// `count` digits at `at`, or -1.
int digits(std::string_view text, std::size_t at, std::size_t count) {
    int value = 0;
    for (std::size_t i = at; i < at + count; ++i) {
        if (i >= text.size() || !is_ascii_digit(text[i])) return -1;
        value = value * 10 + (text[i] - '0');
    }
    return value;
}

}  // namespace

UnixMicros SystemClock::now() const {
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    return std::int64_t{now.tv_sec} * second_us + now.tv_nsec / 1000;
}

void SystemClock::sleep_ms(std::int64_t duration_ms) {
    if (duration_ms <= 0) return;
    timespec left{};
    left.tv_sec = duration_ms / 1000;
    left.tv_nsec = duration_ms % 1000 * 1'000'000;
    while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

std::string render_rfc3339(UnixMicros time) {
    std::string out;
    append_rfc3339(out, time);
    return out;
}

void append_rfc3339(std::string& out, UnixMicros time) {
    const auto c = civil_of(time);
    // Formatted by hand: every file entry of every page contains a time.
    constexpr std::string_view shape = "0000-00-00T00:00:00.000000Z";
    const std::size_t start = out.size();
    out.append(shape);
    const auto put = [&](std::size_t at, std::size_t digits, unsigned value) {
        for (; digits > 0; value /= 10)
            out[start + at + --digits] = static_cast<char>('0' + value % 10);
    };
    put(0, 4, static_cast<unsigned>(c.year));
    put(5, 2, c.month);
    put(8, 2, c.day);
    put(11, 2, static_cast<unsigned>(c.hour));
    put(14, 2, static_cast<unsigned>(c.minute));
    put(17, 2, static_cast<unsigned>(c.second));
    put(20, 6, static_cast<unsigned>(c.micros));
}

Result<UnixMicros> parse_rfc3339(std::string_view text) {
    const auto refuse = [&] {
        return fail("clock.syntax", "This is not an RFC 3339 time", std::string(text.substr(0, 100)),
                    "write it like 2026-11-20T07:47:35.000000Z, in UTC");
    };
    constexpr std::string_view shape = "0000-00-00T00:00:00";
    if (text.size() <= shape.size() || !text.ends_with('Z')) return refuse();
    for (std::size_t i = 0; i < shape.size(); ++i) {
        if (shape[i] != '0' && text[i] != shape[i]) return refuse();
    }
    const int year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
    const int hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
    // A -1 becomes a huge unsigned value, which no calendar contains.
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (year < 0 || month < 0 || day < 0 || !date.ok()) return refuse();
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return refuse();
    std::int64_t micros = 0;
    if (auto fraction = text.substr(shape.size(), text.size() - shape.size() - 1); !fraction.empty()) {
        fraction.remove_prefix(1);
        if (text[shape.size()] != '.' || fraction.empty() || fraction.size() > 6) return refuse();
        micros = digits(fraction, 0, fraction.size());
        if (micros < 0) return refuse();
        for (auto place = fraction.size(); place < 6; ++place)
            micros *= 10;
    }
    const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
    const std::int64_t seconds = days * (day_us / second_us) + hour * 3600 + minute * 60 + second;
    return seconds * second_us + micros;
}

std::string render_http_date(UnixMicros time) {
    static constexpr const char* weekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr const char* months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                             "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto c = civil_of(time);
    char out[64];
    std::snprintf(out, sizeof out, "%s, %02u %s %04d %02d:%02d:%02d GMT", weekdays[c.weekday], c.day,
                  months[c.month - 1], c.year, c.hour, c.minute, c.second);
    return out;
}

}  // namespace wheelyard::base
