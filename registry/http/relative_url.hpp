// Links that hold below any path at which a proxy shows this server: relative to the address of the request (RFC 3986 §4.2). Pure.
#pragma once

#include <string>
#include <string_view>

#include "registry/http/request_head.hpp"

namespace wheelyard::http {

// The path of a request target: "/path?query", or the absolute form that proxies send (RFC 9112 §3.2.2). Begins with '/', or is
// empty if the target names no path.
[[nodiscard]] std::string_view path_of_target(std::string_view target);

// `to`, a percent-encoded absolute path of this server with or without a query, as a client that has asked for `from` reaches it:
//     relative_url("/main/simple/Six", "/main/simple/six/") is "six/"; ("/main/simple/x/", "/") is "../../../"
[[nodiscard]] std::string relative_url(std::string_view from, std::string_view to);

// From the address of a request to the front page: "./", "../../".
[[nodiscard]] std::string root_from(const RequestHead& head);

}  // namespace wheelyard::http
