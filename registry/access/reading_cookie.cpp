#include "registry/access/reading_cookie.hpp"

#include <algorithm>
#include <optional>

#include "lib/base/digest/digest.hpp"
#include "lib/base/digest/hmac.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/tokens.hpp"
#include "registry/http/cookie.hpp"

namespace wheelyard::registry {
namespace {

constexpr std::size_t max_end_digits = 12;

std::string mac_of(const ReadingCookie& cookie, const catalog::TokenRow& token, std::string_view index) {
    std::string text("reading cookie\n");
    text.append(cookie.token).append("\n").append(std::to_string(cookie.until_s)).append("\n").append(index);
    return base::encode_hex(base::hmac_sha256(token.secret_sha256, text));
}

std::optional<ReadingCookie> parse_cookie(std::string_view value) {
    const auto parts = base::split(value, '-');
    if (parts.size() != 3 || parts[0].size() != token_id_length || parts[1].size() > max_end_digits ||
        parts[1].starts_with('0') || !base::is_sha256_hex(parts[2]))
        return std::nullopt;
    const auto until_s = base::parse_decimal(parts[1]);
    if (!until_s) return std::nullopt;
    return ReadingCookie{.token = std::string(parts[0]),
                         .until_s = static_cast<std::int64_t>(*until_s),
                         .mac = std::string(parts[2])};
}

}  // namespace

std::string make_reading_cookie(const catalog::TokenRow& token, std::string_view index,
                                base::UnixMicros now) {
    ReadingCookie cookie{.token = token.id, .until_s = now / base::second_us + reading_cookie_life_s};
    if (token.expires != 0) cookie.until_s = std::min(cookie.until_s, token.expires / base::second_us);
    return cookie.token + "-" + std::to_string(cookie.until_s) + "-" + mac_of(cookie, token, index);
}

std::vector<ReadingCookie> cookies_of_authorization(std::string_view header) {
    std::vector<ReadingCookie> cookies;
    if (!header.starts_with(http::cookie_scheme)) return cookies;
    for (const std::string_view value : base::split(header.substr(http::cookie_scheme.size()), ' ')) {
        if (auto cookie = parse_cookie(value)) cookies.push_back(*std::move(cookie));
    }
    return cookies;
}

bool is_cookie_of(const ReadingCookie& cookie, const catalog::TokenRow& token, std::string_view index) {
    return cookie.token == token.id &&
           base::equals_in_constant_time(cookie.mac, mac_of(cookie, token, index));
}

}  // namespace wheelyard::registry
