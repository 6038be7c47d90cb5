// The head of one request as values. Beast's parser reads the grammar; this room adds what it leaves to us:
// one Host, one Content-Length, no folded lines, no Transfer-Encoding but "chunked" (reference: RFC 9112
// §3.2, §5.2, §6.1, §6.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "registry/http/upload.hpp"

namespace wheelyard::http {

struct RequestHead {
    std::string method;
    std::string target;
    bool http_1_1 = true;
    bool keep_alive = true;
    bool chunked = false;
    bool expects_continue = false;
    std::optional<std::uint64_t> content_length;
    std::string host;
    std::string accept;  // several fields are joined by commas; empty: absent
    std::string range;
    std::string if_range;
    std::string if_none_match;
    std::string if_modified_since;
    std::string accept_encoding;
    std::string authorization;
    std::string content_type;
    std::optional<std::uint64_t> upload_offset;  // of resumable uploads; nullopt also when it is no number
    std::optional<std::uint64_t> upload_length;
    std::string forwarded_proto;  // X-Forwarded-Proto and -Host: to be believed of a trusted proxy only
    std::string forwarded_host;

    [[nodiscard]] bool has_body() const { return chunked || (content_length && *content_length > 0); }
};

// uri-host [ ":" port ]: false for what can never be one.
[[nodiscard]] bool is_plausible_host(std::string_view host);

// Where the first head in `bytes` ends (past its empty line), looking from `from` on; npos: not here yet.
[[nodiscard]] std::size_t find_head_end(std::string_view bytes, std::size_t from);

// `head` is a whole head with its empty line. Every problem ends the connection: where the next request would
// start is unknown. 400 "request.malformed", 417 "request.expectation", 501 "request.transfer_encoding", 505
// "request.version".
[[nodiscard]] Answered<RequestHead> parse_request_head(std::string_view head);

}  // namespace wheelyard::http
