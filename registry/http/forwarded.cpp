#include "registry/http/forwarded.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"

namespace wheelyard::http {

namespace {

// Cuts the last part off `text`, at the last `separator` outside of a quoted string (RFC 9110 §5.6.4). A text
// with an open quote has no parts: a client may have opened it so that it takes in what the proxy has added.
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

// "192.0.2.1:4711", "[2001:db8::1]:4711", "2001:db8::1". Each address in one form, and "::ffff:192.0.2.1" or
// "::ffff:c000:201", which is an IPv4 client at a socket for both, as that client.
std::string address_of(std::string_view node) {
    constexpr std::size_t max_name_bytes = 64;
    if (node.starts_with('[')) node = node.substr(1, std::min(node.find(']'), node.size()) - 1);
    const bool is_v6 = std::count(node.begin(), node.end(), ':') > 1;
    std::string name(is_v6 ? node : node.substr(0, node.find(':')), 0, max_name_bytes);
    in6_addr bytes{};
    if (!is_v6 || ::inet_pton(AF_INET6, name.c_str(), &bytes) != 1) return name;
    const bool is_mapped = IN6_IS_ADDR_V4MAPPED(&bytes);
    constexpr std::size_t prefix_bytes = 12;  // before the IPv4 address
    std::array<char, INET6_ADDRSTRLEN> text{};
    ::inet_ntop(is_mapped ? AF_INET : AF_INET6, bytes.s6_addr + (is_mapped ? prefix_bytes : 0), text.data(),
                text.size());
    return text.data();
}

constexpr std::string_view v6_network = "::/64";

std::string network_of(const std::string& address) {
    constexpr std::size_t network_bytes = 8;
    std::array<char, 16> bytes{};
    if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
    return base::encode_hex(std::string_view(bytes.data(), network_bytes)).append(v6_network);
}

}  // namespace

std::string_view take_last_of_list(std::string_view& list) {
    return take_last(list, ',');
}

std::string_view parameter_of(std::string_view element, std::string_view name) {
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

bool is_proxy(std::string_view peer, const std::vector<std::string>& trusted) {
    return std::find(trusted.begin(), trusted.end(), peer) != trusted.end();
}

void remove_untrusted_fields(RequestHead& head, const std::vector<std::string>& trusted) {
    for (const ProxyField& field : proxy_fields)
        if (std::find(trusted.begin(), trusted.end(), field.name) == trusted.end())
            (head.*field.value).clear();
}

std::string client_of(const RequestHead& head, std::string_view peer,
                      const std::vector<std::string>& trusted) {
    std::string nearest = network_of(std::string(peer));
    if (!is_proxy(peer, trusted)) return nearest;
    const auto said_in = [&](std::string_view hops, bool is_plain) -> std::string {
        while (!hops.empty()) {
            const std::string_view hop = take_last_of_list(hops);
            const std::string address = address_of(is_plain ? hop : parameter_of(hop, "for"));
            if (address.empty()) break;
            if (!is_proxy(address, trusted)) return network_of(address);
        }
        return nearest;
    };
    return head.forwarded_for.empty() ? said_in(head.forwarded, false) : said_in(head.forwarded_for, true);
}

std::string home_of_client(std::string_view client) {
    constexpr std::size_t v6_digits = 14;  // 56 bits
    if (client.ends_with(v6_network)) return std::string(client.substr(0, v6_digits)) + "00::/56";
    return std::string(client);
}

std::string network_of_client(std::string_view client) {
    if (client.ends_with(v6_network)) return home_of_client(client);
    std::array<char, 4> bytes{};
    if (::inet_pton(AF_INET, std::string(client).c_str(), bytes.data()) != 1) return std::string(client);
    return std::string(client.substr(0, client.rfind('.'))) + ".0/24";
}

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

std::string_view path_of_target(std::string_view target) {
    for (const std::string_view scheme : {std::string_view("http://"), std::string_view("https://")}) {
        if (!base::equals_ignoring_case(target.substr(0, scheme.size()), scheme)) continue;
        const auto slash = target.find('/', scheme.size());
        target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
        break;
    }
    if (!target.starts_with('/')) return {};
    return target.substr(0, target.find('?'));
}

std::string relative_url(std::string_view from, std::string_view to) {
    if (from.empty()) return std::string(to);
    const std::string_view path = to.substr(0, to.find('?'));
    const auto differ = std::mismatch(from.begin(), from.end(), path.begin(), path.end()).first;
    const std::string_view same = from.substr(0, static_cast<std::size_t>(differ - from.begin()));
    const std::size_t folder = same.rfind('/') + 1;  // of both; 0 if there is none
    std::string link;
    for (auto levels = std::count(from.begin() + static_cast<std::ptrdiff_t>(folder), from.end(), '/');
         levels > 0; --levels)
        link += "../";
    const std::string_view rest = to.substr(folder);
    // Without it the rest would mean the request's own address, a scheme, or another host.
    const std::string_view first = rest.substr(0, rest.find_first_of("/?"));
    const bool is_odd = first.empty() || first.find(':') != std::string_view::npos;
    if (link.empty() && is_odd) link = "./";
    return link.append(rest);
}

std::string root_from(const RequestHead& head) {
    return relative_url(path_of_target(head.target), "/");
}

}  // namespace wheelyard::http
