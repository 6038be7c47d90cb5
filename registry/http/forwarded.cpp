#include "registry/http/forwarded.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

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

// "192.0.2.1:4711", "[2001:db8::1]:4711", "2001:db8::1". Each address in one form, and "::ffff:192.0.2.1" or "::ffff:c000:201",
// which is an IPv4 client at a socket for both, as that client.
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

}  // namespace wheelyard::http
