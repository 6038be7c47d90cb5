// Uses Beast's basic_parser, collects the fields that this server reads, and adds stricter checks.
#include "registry/http/request_head.hpp"

#include <algorithm>
#include <array>
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

// The fields that become a value in another form.
struct Fields : RequestHead {
    std::string content_length_text, transfer_encoding, expect, upload_offset_text, upload_length_text;
};

// What several fields of one name are: refused as a means of request smuggling, joined with commas, or all
// but the last one ignored.
enum class Several { refused, joined, last };
struct Field {
    std::string_view name;
    std::string Fields::*value;
    Several several;
};
constexpr std::array fields{
    Field{"Host", &Fields::host, Several::refused},
    Field{"Content-Length", &Fields::content_length_text, Several::refused},
    Field{"Transfer-Encoding", &Fields::transfer_encoding, Several::refused},
    Field{"Authorization", &Fields::authorization, Several::refused},
    Field{"Cookie", &Fields::cookie, Several::last},
    Field{"Content-Type", &Fields::content_type, Several::refused},
    Field{"Expect", &Fields::expect, Several::last},
    Field{"Origin", &Fields::origin, Several::joined},
    Field{"Sec-Fetch-Site", &Fields::fetch_site, Several::joined},
    Field{"Accept", &Fields::accept, Several::joined},
    Field{"Accept-Encoding", &Fields::accept_encoding, Several::joined},
    Field{"If-None-Match", &Fields::if_none_match, Several::joined},
    Field{"If-Modified-Since", &Fields::if_modified_since, Several::last},
    Field{"Range", &Fields::range, Several::joined},
    Field{"If-Range", &Fields::if_range, Several::last},
    Field{"Upload-Offset", &Fields::upload_offset_text, Several::last},
    Field{"Upload-Length", &Fields::upload_length_text, Several::last},
    Field{upstream_via_field, &Fields::upstream_via, Several::joined},
    Field{forwarded_field, &Fields::for_node, Several::last},
    Field{client_field, &Fields::client_of_node, Several::last},
};

class HeadParser final : public http::basic_parser<true> {
  public:
    HeadParser() {
        header_limit(static_cast<std::uint32_t>(max_request_head_bytes));
        body_limit(boost::none);
    }

    Fields head;
    // How many fields have this value.
    [[nodiscard]] int count(std::string Fields::*value) const {
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (fields[i].value == value) return seen[i];
        return 0;
    }
    std::array<int, fields.size()> seen = {};

  private:
    void on_request_impl(http::verb /*verb*/, beast::string_view method, beast::string_view target,
                         int version, error_code& /*ec*/) override {
        head.method = view(method);
        head.target = view(target);
        head.http_1_1 = version == 11;
    }

    void on_field_impl(http::field /*name*/, beast::string_view name, beast::string_view value,
                       error_code& /*ec*/) override {
        for (const ProxyField& field : proxy_fields)
            if (base::equals_ignoring_case(view(name), field.name)) head.*field.value = view(value);
        for (std::size_t i = 0; i < fields.size(); ++i) {
            if (!base::equals_ignoring_case(view(name), fields[i].name)) continue;
            std::string& into = head.*fields[i].value;
            if (fields[i].several != Several::joined) into.clear();
            if (!into.empty()) into += ", ";
            into += view(value);
            ++seen[i];
        }
    }

    void on_response_impl(int, beast::string_view, int, error_code&) override {}
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    std::size_t on_body_impl(beast::string_view, error_code&) override { return 0; }
    void on_chunk_header_impl(std::uint64_t, beast::string_view, error_code&) override {}
    std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, error_code&) override { return 0; }
    void on_finish_impl(error_code&) override {}
};

// Says whether every line ends in CRLF, contains no control character except tabs, and does not begin with a
// blank (obs-fold, RFC 9112 §5.2).
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
    const Fields& head = parser.head;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].several == Several::refused && parser.seen[i] > 1)
            return malformed("The request has more than one " + std::string(fields[i].name) + ".");
    }
    if (parser.count(&Fields::host) == 0 && head.http_1_1)
        return malformed("The request has no Host (RFC 9112 §3.2).");
    if (!is_plausible_host(head.host)) return malformed("The Host is invalid.", head.host.substr(0, 200));
    if (head.content_length_text.find(',') != std::string::npos)
        return malformed("The request has more than one Content-Length.");
    if (parser.count(&Fields::transfer_encoding) == 1) {
        if (parser.count(&Fields::content_length_text) > 0)
            return malformed("The request has both Content-Length and Transfer-Encoding.");
        if (!head.http_1_1) return malformed("HTTP/1.0 does not support Transfer-Encoding.");
        if (!base::equals_ignoring_case(head.transfer_encoding, "chunked"))
            return wire::refuse("request.transfer_encoding", "Not implemented",
                                "Only the transfer coding \"chunked\" is supported.",
                                head.transfer_encoding.substr(0, 200), "send the body with a Content-Length");
    }
    if (parser.count(&Fields::expect) > 0 && head.http_1_1 &&
        !base::equals_ignoring_case(head.expect, "100-continue"))
        return wire::refuse("request.expectation", "Expectation failed",
                            "The only supported expectation is 100-continue.", head.expect.substr(0, 200),
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
    Fields& result = parser.head;
    result.chunked = parser.count(&Fields::transfer_encoding) == 1;
    if (parser.count(&Fields::content_length_text) == 1) {
        result.content_length = base::parse_decimal(result.content_length_text);
        if (!result.content_length)
            return malformed("The Content-Length is not a number.", result.content_length_text.substr(0, 64));
    }
    result.upload_offset = base::parse_decimal(result.upload_offset_text);
    result.upload_length = base::parse_decimal(result.upload_length_text);
    result.is_from_node = parser.count(&Fields::for_node) > 0;
    result.keep_alive = parser.keep_alive();
    result.expects_continue = parser.count(&Fields::expect) > 0 && result.http_1_1;
    return std::move(static_cast<RequestHead&>(result));  // moved once: it has many members
}

}  // namespace wheelyard::http
