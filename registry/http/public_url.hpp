// The URL at which clients see this server: where no relative link will do, it names the server. Pure.
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

}  // namespace wheelyard::http
