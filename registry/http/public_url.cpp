#include "registry/http/public_url.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"
#include "registry/http/limits.hpp"

namespace wheelyard::http {

namespace {

// Cuts the last part off `text`, at the last `separator` outside of a quoted string (RFC 9110 §5.6.4). A text with an open
// quote has no parts: a client may have opened it so that it takes in what the proxy has added.
std::string_view take_last(std::string_view& text, char separator) {
    bool is_quoted = false;
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (is_quoted && text[at] == '\\')
            ++at;
        else if (text[at] == '"')
            is_quoted = !is_quoted;
        else if (text[at] == separator && !is_quoted)
            begin = at + 1;
    }
    if (is_quoted) return text = {};
    const std::string_view last = base::trim(text.substr(begin));
    text = text.substr(0, begin == 0 ? 0 : begin - 1);
    return last;
}

std::string_view last_of(std::string_view list) {
    return take_last(list, ',');
}

// The value of a parameter of the last element of Forwarded: `for=192.0.2.1;proto=https;host="h:8443"`. A quoted value with an
// escape is none that is used here.
std::string_view parameter_of(std::string_view forwarded, std::string_view name) {
    std::string_view element = last_of(forwarded);
    while (!element.empty()) {
        const std::string_view pair = take_last(element, ';');
        const auto equals = pair.find('=');
        if (equals == std::string_view::npos || !base::equals_ignoring_case(pair.substr(0, equals), name))
            continue;
        std::string_view value = pair.substr(equals + 1);
        if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
            value = value.substr(1, value.size() - 2);
        return value;
    }
    return {};
}

bool consists_of(std::string_view text, std::string_view marks) {
    return std::all_of(text.begin(), text.end(), [&](char c) {
        return base::is_ascii_alnum(c) || marks.find(c) != std::string_view::npos;
    });
}

bool is_host(std::string_view host) {
    return !host.empty() && host.size() <= max_forwarded_bytes && consists_of(host, "-._:[]");
}

// "/pypi" and "/pypi/" are "/pypi"; "/" and what is no path, or leaves it, is none.
std::string_view path_prefix(std::string_view prefix) {
    if (prefix.ends_with('/')) prefix.remove_suffix(1);
    if (!prefix.starts_with('/') || prefix.size() > max_forwarded_bytes || !consists_of(prefix, "/-._~"))
        return {};
    for (const std::string_view segment : base::split(prefix.substr(1), '/'))
        if (segment.empty() || segment == "." || segment == "..") return {};
    return prefix;
}

}  // namespace

std::string public_url_of(const RequestHead& head, bool is_tls, bool is_from_proxy,
                          std::string_view configured) {
    if (!configured.empty()) return std::string(configured);
    std::string scheme = is_tls ? "https" : "http";
    std::string_view host = head.host;
    std::string_view prefix;
    if (is_from_proxy) {
        std::string_view said = last_of(head.forwarded_proto);
        if (said.empty()) said = parameter_of(head.forwarded, "proto");
        if (const std::string proto = base::ascii_lower(said); proto == "https" || proto == "http")
            scheme = proto;
        said = last_of(head.forwarded_host);
        if (said.empty()) said = parameter_of(head.forwarded, "host");
        if (is_host(said)) host = said;
        prefix = path_prefix(last_of(head.forwarded_prefix));
    }
    return scheme.append("://").append(host).append(prefix);
}

}  // namespace wheelyard::http
