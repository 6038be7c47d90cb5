// Uses Beast's basic_parser, collects the fields that this server reads, and adds stricter checks.
#include "registry/http/request_head.hpp"

#include <algorithm>
#include <boost/beast/http/basic_parser.hpp>

#include "lib/base/text/text.hpp"
#include "registry/http/forward.hpp"
#include "registry/http/limits.hpp"

namespace wheelyard::http {

namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;

tl::unexpected<wire::Problem> malformed(std::string detail, std::string value = {}) {
    return wire::refuse("request.malformed", "Bad request", std::move(detail), std::move(value),
                        "check the client, or a proxy in between");
}

std::string_view view(beast::string_view text) {
    return {text.data(), text.size()};
}

// Counts of fields that may occur only once: duplicates are a means of request smuggling.
struct Seen {
    int host = 0;
    int content_length = 0;
    int transfer_encoding = 0;
    int expect = 0;
    int authorization = 0;
    int content_type = 0;
};

class HeadParser final : public http::basic_parser<true> {
  public:
    HeadParser() {
        header_limit(static_cast<std::uint32_t>(max_request_head_bytes));
        body_limit(boost::none);
    }

    RequestHead head;
    Seen seen;
    std::string transfer_encoding;
    std::string content_length;
    std::string expect;

  private:
    void on_request_impl(http::verb /*verb*/, beast::string_view method, beast::string_view target,
                         int version, error_code& /*ec*/) override {
        head.method = view(method);
        head.target = view(target);
        head.http_1_1 = version == 11;
    }

    void on_field_impl(http::field name, beast::string_view as_written, beast::string_view value,
                       error_code& /*ec*/) override {
        switch (name) {
            case http::field::host:
                ++seen.host, head.host = view(value);
                break;
            case http::field::content_length:
                ++seen.content_length, content_length = view(value);
                break;
            case http::field::transfer_encoding:
                ++seen.transfer_encoding, transfer_encoding = view(value);
                break;
            case http::field::expect:
                ++seen.expect, expect = view(value);
                break;
            case http::field::authorization:
                ++seen.authorization, head.authorization = view(value);
                break;
            case http::field::content_type:
                ++seen.content_type, head.content_type = view(value);
                break;
            case http::field::origin:
                join(head.origin, value);
                break;
            case http::field::sec_fetch_site:
                join(head.fetch_site, value);
                break;
            case http::field::accept:
                join(head.accept, value);
                break;
            case http::field::if_none_match:
                join(head.if_none_match, value);
                break;
            case http::field::range:
                join(head.range, value);
                break;
            case http::field::if_range:
                head.if_range = view(value);
                break;
            case http::field::if_modified_since:
                head.if_modified_since = view(value);
                break;
            case http::field::accept_encoding:
                join(head.accept_encoding, value);
                break;
            default:
                read_other(view(as_written), value);
                break;
        }
    }

    // Fields without a Beast constant, and Forwarded.
    void read_other(std::string_view name, beast::string_view value) {
        for (const ProxyField& field : proxy_fields)
            if (base::equals_ignoring_case(name, field.name)) head.*field.value = view(value);
        if (base::equals_ignoring_case(name, upstream_via_field)) join(head.upstream_via, value);
        if (base::equals_ignoring_case(name, forwarded_field)) {
            head.is_from_node = true;
            head.for_node = view(value);
        }
        if (base::equals_ignoring_case(name, client_field)) head.client_of_node = view(value);
        if (base::equals_ignoring_case(name, "Upload-Offset"))
            head.upload_offset = base::parse_decimal(view(value));
        if (base::equals_ignoring_case(name, "Upload-Length"))
            head.upload_length = base::parse_decimal(view(value));
    }

    static void join(std::string& into, beast::string_view value) {
        if (!into.empty()) into += ", ";
        into += view(value);
    }

    void on_response_impl(int, beast::string_view, int, error_code&) override {}
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(beast::string_view, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, error_code&) override { return 0; }
    void on_finish_impl(error_code&) override {}
};

// Whether every line ends in CRLF, contains no control character except tabs, and does not begin with a blank
// (obs-fold, RFC 9112 §5.2).
bool lines_are_plain(std::string_view head) {
    for (std::size_t i = 0; i < head.size(); ++i) {
        const auto c = static_cast<unsigned char>(head[i]);
        if (c >= ' ' && c != 0x7f) continue;
        if (c == '\t') continue;
        if (c != '\r' || i + 1 >= head.size() || head[i + 1] != '\n') return false;
        ++i;
        if (i + 1 < head.size() && (head[i + 1] == ' ' || head[i + 1] == '\t')) return false;
    }
    return true;
}

// uri-host [ ":" port ]: false if the characters rule it out. Empty is allowed (RFC 9110 §7.2).
bool is_plausible_host(std::string_view host) {
    return std::all_of(host.begin(), host.end(), [](char c) {
        return base::is_ascii_alnum(c) ||
               std::string_view("-._~:[]%!$&'()*+,;=").find(c) != std::string_view::npos;
    });
}

Answered<void> check_fields(const HeadParser& parser) {
    const Seen& seen = parser.seen;
    if (seen.host > 1) return malformed("The request has more than one Host.");
    if (seen.host == 0 && parser.head.http_1_1) return malformed("The request has no Host (RFC 9112 §3.2).");
    if (!is_plausible_host(parser.head.host))
        return malformed("The Host is invalid.", parser.head.host.substr(0, 200));
    if (seen.content_length > 1 || parser.content_length.find(',') != std::string::npos)
        return malformed("The request has more than one Content-Length.");
    if (seen.transfer_encoding > 0 && seen.content_length > 0)
        return malformed("The request has both Content-Length and Transfer-Encoding.");
    if (seen.transfer_encoding > 1) return malformed("The request has more than one Transfer-Encoding.");
    if (seen.authorization > 1) return malformed("The request has more than one Authorization.");
    if (seen.content_type > 1) return malformed("The request has more than one Content-Type.");
    if (seen.transfer_encoding == 1) {
        if (!parser.head.http_1_1) return malformed("HTTP/1.0 does not support Transfer-Encoding.");
        if (!base::equals_ignoring_case(parser.transfer_encoding, "chunked"))
            return wire::refuse("request.transfer_encoding", "Not implemented",
                                "Only the transfer coding \"chunked\" is supported.",
                                parser.transfer_encoding.substr(0, 200),
                                "send the body with a Content-Length");
    }
    if (seen.expect > 0 && parser.head.http_1_1 && !base::equals_ignoring_case(parser.expect, "100-continue"))
        return wire::refuse("request.expectation", "Expectation failed",
                            "The only supported expectation is 100-continue.", parser.expect.substr(0, 200),
                            "remove the Expect header");
    return {};
}

}  // namespace

std::size_t find_head_end(std::string_view bytes, std::size_t from) {
    const auto at = bytes.find("\r\n\r\n", from < 3 ? 0 : from - 3);
    return at == std::string_view::npos ? at : at + 4;
}

Answered<RequestHead> parse_request_head(std::string_view head) {
    if (!lines_are_plain(head))
        return malformed("The request head contains a control character, a bare line feed or a folded line.");
    HeadParser parser;
    error_code ec;
    const std::size_t read = parser.put(boost::asio::const_buffer(head.data(), head.size()), ec);
    if (ec == http::error::bad_version)
        return wire::refuse("request.version", "HTTP version not supported",
                            "This server supports HTTP/1.1 and HTTP/1.0.", {}, "use HTTP/1.1");
    if (ec) return malformed("The request head is not HTTP: " + ec.message() + ".");
    if (read != head.size() || !parser.is_header_done()) return malformed("The request head is incomplete.");
    if (auto checked = check_fields(parser); !checked) return tl::unexpected(std::move(checked.error()));
    RequestHead result = std::move(parser.head);
    result.chunked = parser.seen.transfer_encoding == 1;
    if (parser.seen.content_length == 1) {
        result.content_length = base::parse_decimal(parser.content_length);
        if (!result.content_length)
            return malformed("The Content-Length is not a number.", parser.content_length.substr(0, 64));
    }
    result.keep_alive = parser.keep_alive();
    result.expects_continue = parser.seen.expect > 0 && result.http_1_1;
    return result;
}

}  // namespace wheelyard::http
