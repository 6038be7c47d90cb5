#include "registry/http/public_url.hpp"

#include <algorithm>
#include <cstddef>
#include <string>

#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "registry/http/forwarded.hpp"

namespace wheelyard::http {
namespace {

constexpr std::size_t max_forwarded_bytes =
    255;  // of a host or a path that a proxy reports: DNS names have 253

std::string_view last_of(std::string_view list) {
    return take_last_of_list(list);
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
        if (said.empty()) said = parameter_of(last_of(head.forwarded), "proto");
        if (const std::string proto = base::ascii_lower(said); proto == "https" || proto == "http")
            scheme = proto;
        said = last_of(head.forwarded_host);
        if (said.empty()) said = parameter_of(last_of(head.forwarded), "host");
        if (is_host(said)) host = said;
        prefix = path_prefix(last_of(head.forwarded_prefix));
    }
    return scheme.append("://").append(host).append(prefix);
}

bool is_from_other_site(const RequestHead& head, std::string_view base_url) {
    if (head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS") return false;
    if (!head.fetch_site.empty()) return head.fetch_site != "same-origin" && head.fetch_site != "none";
    if (head.origin.empty()) return false;
    const auto origin = base::parse_url(head.origin);  // "null" is no URL
    const auto own = base::parse_url(base_url);
    return !origin || !own || origin->host != own->host;
}

}  // namespace wheelyard::http
