#include "registry/upstream/freshness.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "lib/base/text/http_date.hpp"
#include "lib/base/text/text.hpp"
#include "registry/upstream/limits.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::int64_t default_retry_after_s = 60;  // of a 429 without Retry-After

// Digits of any length: a huge number is a long time, not an error.
std::optional<std::int64_t> parse_seconds(std::string_view text) {
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
    if (text.empty() || !std::all_of(text.begin(), text.end(), base::is_ascii_digit)) return std::nullopt;
    constexpr std::uint64_t longest = 10ull * 365 * 24 * 3600;
    return static_cast<std::int64_t>(std::min(base::parse_decimal(text).value_or(longest), longest));
}

// Counted from the answer's own Date: the clocks of two machines are not compared.
std::optional<std::int64_t> seconds_until(std::string_view date, const io::HttpAnswer& answer) {
    const auto then = base::parse_http_date(date);
    const auto sent = base::parse_http_date(answer.header("date"));
    if (!then || !sent) return std::nullopt;
    return (*then - *sent) / base::second_us;
}

}  // namespace

std::int64_t fresh_seconds(const io::HttpAnswer& answer) {
    std::optional<std::int64_t> max_age;
    std::optional<std::int64_t> shared_max_age;
    const std::string cache_control = answer.header("cache-control");
    for (const std::string_view part : base::split(cache_control, ',')) {
        const std::string directive = base::ascii_lower(base::trim(part));
        if (directive == "no-cache" || directive == "no-store") return min_fresh_s;
        if (directive.starts_with("max-age=")) max_age = parse_seconds(directive.substr(8));
        if (directive.starts_with("s-maxage=")) shared_max_age = parse_seconds(directive.substr(9));
    }
    const std::int64_t lifetime = shared_max_age.value_or(max_age.value_or(default_fresh_s));
    const std::int64_t age = parse_seconds(answer.header("age")).value_or(0);
    return std::clamp(lifetime - age, min_fresh_s, max_fresh_s);
}

std::int64_t retry_after_seconds(const io::HttpAnswer& answer) {
    const std::string retry_after = answer.header("retry-after");
    auto seconds = parse_seconds(base::trim(retry_after));
    if (!seconds) seconds = seconds_until(base::trim(retry_after), answer);
    return std::clamp(seconds.value_or(default_retry_after_s), std::int64_t{1}, max_retry_after_s);
}

std::int64_t asked_pause_s(const io::HttpAnswer& answer) {
    constexpr int too_many = 429;
    constexpr int unavailable = 503;
    const bool asks =
        answer.status == too_many || (answer.status == unavailable && !answer.header("retry-after").empty());
    return asks ? retry_after_seconds(answer) : 0;
}

}  // namespace wheelyard::registry
