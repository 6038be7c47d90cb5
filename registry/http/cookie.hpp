// The cookie with which a browser reads the pages of a private index (decision record 46). Pure.
#pragma once

#include <string>
#include <string_view>

#include "registry/http/request_head.hpp"

namespace wheelyard::http {

// The scheme of what take_cookie() makes of a cookie, with its space. No operation and no upload takes it.
inline constexpr std::string_view cookie_scheme = "Cookie ";

// Makes the request's credentials of the cookie (RFC 6265 §4.2.1), if it reads (GET, HEAD), has no other
// credentials, and no page of another origin made the browser send it (Sec-Fetch-Site, Origin). A site of the
// same domain, and another port of this host, are another origin, for which SameSite does not do. Such a site
// can set cookies of the same name, which a browser may send first (§5.4): the first three are taken, with
// spaces between them.
void take_cookie(RequestHead& head);

// Set-Cookie, for GET of everything below the index alone. `base_url`: this server as the client sees it; by
// https the cookie is Secure. An empty value removes the cookie.
[[nodiscard]] std::string set_cookie(std::string_view base_url, std::string_view index,
                                     std::string_view value);

}  // namespace wheelyard::http
