// Whether a page of another site made a browser send a request (CSRF). Pure.
#pragma once

#include <string_view>

#include "registry/http/request_head.hpp"

namespace wheelyard::http {

// True of a request that may change something and comes from a page of another site, by Sec-Fetch-Site (W3C Fetch Metadata) or
// else by Origin (RFC 6454 §7): a browser adds a password that its user typed once to such requests, too. Programs send neither
// field. `base_url`: this server as the client sees it. Ports do not count: a proxy may remove that of the server.
[[nodiscard]] bool is_from_other_site(const RequestHead& head, std::string_view base_url);

}  // namespace wheelyard::http
