// The URL at which clients see this server: where no relative link will do, it names the server, and a page of another site is
// known by it. Pure.
#pragma once

#include <string>
#include <string_view>

#include "registry/http/request_head.hpp"

namespace wheelyard::http {

// "https://wheels.example.org/pypi", without a last slash. `configured`: the configuration's public_url, which wins. Otherwise
// the request's own Host, or, `is_from_proxy` that the configuration names, what that says of the client's request:
// X-Forwarded-Proto, -Host and -Prefix, each or else Forwarded (RFC 7239), which has no prefix. Of a list only the last element
// counts, the one that this proxy has added. A value that is no scheme, host or path is as if it were absent.
[[nodiscard]] std::string public_url_of(const RequestHead& head, bool is_tls, bool is_from_proxy,
                                        std::string_view configured);

// Whether a page of another site made a browser send a request (CSRF).
// True of a request that may change something and comes from a page of another site, by Sec-Fetch-Site (W3C Fetch Metadata) or
// else by Origin (RFC 6454 §7): a browser adds a password that its user typed once to such requests, too. Programs send neither
// field. `base_url`: this server as the client sees it. Ports do not count: a proxy may remove that of the server.
[[nodiscard]] bool is_from_other_site(const RequestHead& head, std::string_view base_url);

}  // namespace wheelyard::http
