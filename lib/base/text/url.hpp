// Absolute http, https and file URLs (RFC 3986): parse, resolve, render.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "lib/base/result.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::base {

struct Url {
    std::string scheme;    // lower case
    std::string userinfo;  // "user:password" as written; text_without_secrets() hides it
    std::string host;      // lower case
    std::string port;      // empty: the scheme's default
    std::string path;      // begins with '/'; still percent-encoded
    std::string query;     // without '?'
    std::string fragment;  // without '#'

    [[nodiscard]] std::string text() const;
    [[nodiscard]] std::string host_and_port() const;  // "example.org:443": also where the URL has no port
    [[nodiscard]] std::string text_without_secrets() const;  // userinfo becomes "****"
};

[[nodiscard]] Result<Url> parse_url(std::string_view text);
// Resolves `reference`, found in a page at `base` (RFC 3986 §5.2).
[[nodiscard]] Result<Url> resolve_url(const Url& base, std::string_view reference);
// Says whether `hosts` has the URL's host: as "host:port", or as "host" if its port is the scheme's default.
[[nodiscard]] bool names_host(const std::set<std::string>& hosts, const Url& url);
// The last path segment, percent-decoded, as a file name.
[[nodiscard]] Result<std::string> last_segment(const Url& url);
// Says whether `host`, in the form of Url::host, always means this machine, so that plain HTTP to it is safe:
// "localhost", IPv4 127.0.0.0/8, "[::1]". These are pip's secure origins too.
[[nodiscard]] bool is_loopback_host(const std::string& host);

// Between local paths and file URLs (RFC 8089). `path` must be absolute: "/my wheels" →
// "file:///my%20wheels".
[[nodiscard]] inline std::string file_url(std::string_view path) {
    return "file://" + replace_all(encode_percent(path), "%2F", "/");
}

[[nodiscard]] inline Result<std::string> file_path(const Url& url) {
    WHEELYARD_ASSIGN(auto path, decode_percent(url.path));
    if (url.scheme != "file" || path.find('\0') != std::string::npos)
        return fail("url.no_file", "This URL does not name a file", url.text_without_secrets());
    return path;
}

}  // namespace wheelyard::base
