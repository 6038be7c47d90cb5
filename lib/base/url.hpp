// Absolute http, https and file URLs (RFC 3986): parse, resolve, render.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::base {

struct Url {
    std::string scheme;    // lower case
    std::string userinfo;  // "user:password" as written; never printed by text_without_secrets()
    std::string host;      // lower case
    std::string port;      // empty: the scheme's
    std::string path;      // begins with '/' (as written, still percent-encoded)
    std::string query;     // without '?'
    std::string fragment;  // without '#'

    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string text_without_secrets() const;  // userinfo becomes "****"
};

[[nodiscard]] Result<Url> parse_url(std::string_view text);
// `reference` as found in a page whose address is `base` (RFC 3986 §5.2).
[[nodiscard]] Result<Url> resolve_url(const Url& base, std::string_view reference);
// The last path segment, percent-decoded: a file name.
[[nodiscard]] Result<std::string> last_segment(const Url& url);
// Whether `host`, written as Url::host is, can only be this machine: what is sent there in the clear nobody
// else reads or changes. "localhost", an IPv4 address of 127.0.0.0/8, "[::1]"; these are pip's secure
// origins, too.
[[nodiscard]] bool is_loopback_host(const std::string& host);

}  // namespace wheelyard::base
