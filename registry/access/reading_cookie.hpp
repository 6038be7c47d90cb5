// What a browser sends instead of a token, to read the pages of one private index (decision record 46):
//
//     wy_5f0c9a31d2be-1796148000-<64 hex digits>     the token's ID, the cookie's end in Unix seconds, and the
//                                                    HMAC-SHA-256 of both and the index, keyed with the stored
//                                                    hash of the token's secret
//
// Nothing of it is kept: it ends with its token, and every node checks it. No token follows from it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/store/catalog/catalog.hpp"

namespace wheelyard::registry {

struct ReadingCookie {
    std::string token;  // its ID
    std::int64_t until_s = 0;
    std::string mac = {};
};

// Lasts for reading_cookie_life_s, or as long as the token.
[[nodiscard]] std::string make_reading_cookie(const catalog::TokenRow& token, std::string_view index,
                                              base::UnixMicros now);
// Those of the Authorization header that http::take_cookie() makes that have the form.
[[nodiscard]] std::vector<ReadingCookie> cookies_of_authorization(std::string_view header);
// Says whether it was made of this token for this index; it may have ended.
[[nodiscard]] bool is_cookie_of(const ReadingCookie& cookie, const catalog::TokenRow& token,
                                std::string_view index);

}  // namespace wheelyard::registry
