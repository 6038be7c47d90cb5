// The head of one request as a value. Beast's parser checks the grammar; this file adds: one Host, one
// Content-Length, no folded lines, no Transfer-Encoding except "chunked" (RFC 9112 §3.2, §5.2, §6.1, §6.3).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/http/upload.hpp"

namespace wheelyard::http {

// Through which registries a request for a file of an upstream came, each by the name of its run: a registry
// that finds itself there would wait for itself. Not Via (RFC 9110 §7.6.3): web servers in front of an index
// answer that one without compression.
inline constexpr std::string_view upstream_via_field = "Wheelyard-Via";

struct RequestHead {
    std::string method;
    std::string target;
    bool http_1_1 = true;
    bool keep_alive = true;
    bool chunked = false;
    bool expects_continue = false;
    std::optional<std::uint64_t> content_length;
    std::string host;
    std::string accept;  // multiple fields are joined with commas; empty: absent
    std::string range;
    std::string if_range;
    std::string if_none_match;
    std::string if_modified_since;
    std::string accept_encoding;
    std::string authorization;
    std::string cookie;
    std::string content_type;
    std::string origin;                          // of a browser's page, such as "https://wheels.example.org"
    std::string fetch_site;                      // Sec-Fetch-Site: "same-origin", "cross-site", …
    std::optional<std::uint64_t> upload_offset;  // resumable uploads; nullopt if absent or not a number
    std::optional<std::uint64_t> upload_length;
    // What a proxy says of the client's request: the last line of each field, since a proxy adds its own
    // behind the client's. Only forwarded.hpp and forwarded.hpp use them.
    std::string forwarded, forwarded_proto, forwarded_host, forwarded_prefix, forwarded_for;
    std::string upstream_via;  // through which registries the request came (upstream.hpp)
    // Another node of this registry, or who pretends to be one, has passed it on (forward.hpp): what it says
    // that this node is, and for which client.
    bool is_from_node = false;
    std::string for_node;
    std::string client_of_node;

    [[nodiscard]] bool has_body() const { return chunked || (content_length && *content_length > 0); }
};

// Where a proxy says something of the client's request. One that does not set such a field passes on what the
// client sent.
struct ProxyField {
    std::string_view name;
    std::string RequestHead::*value;
};
inline constexpr std::array proxy_fields{
    ProxyField{"X-Forwarded-For", &RequestHead::forwarded_for},
    ProxyField{"X-Forwarded-Host", &RequestHead::forwarded_host},
    ProxyField{"X-Forwarded-Prefix", &RequestHead::forwarded_prefix},
    ProxyField{"X-Forwarded-Proto", &RequestHead::forwarded_proto},
    ProxyField{"Forwarded", &RequestHead::forwarded},
};

// The end of the first head in `bytes` (after its empty line), searching from `from`; npos if incomplete.
[[nodiscard]] std::size_t find_head_end(std::string_view bytes, std::size_t from);

// `head` is a complete head with its empty line. After a problem close the connection: the start of the next
// request is unknown. 400 "request.malformed", 417 "request.expectation", 501 "request.transfer_encoding",
// 505 "request.version".
[[nodiscard]] Answered<RequestHead> parse_request_head(std::string_view head);

}  // namespace wheelyard::http
