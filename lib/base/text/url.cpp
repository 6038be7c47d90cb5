// URLs after RFC 3986, strictly: text that parsers could interpret differently is rejected.
#include "lib/base/text/url.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::base {
namespace {

// The components of a URL reference; each may be absent (RFC 3986, appendix B).
struct Parts {
    std::string_view scheme, authority, path, query, fragment;
    bool has_authority = false, has_query = false;
};

std::string_view cut_from(std::string_view& text, char mark, bool& found) {
    const auto at = text.find(mark);
    found = at != std::string_view::npos;
    if (!found) return {};
    const auto rest = text.substr(at + 1);
    text = text.substr(0, at);
    return rest;
}

bool is_scheme(std::string_view text) {
    return !text.empty() && is_ascii_alpha(text[0]) && std::all_of(text.begin(), text.end(), [](char c) {
        return is_ascii_alnum(c) || c == '+' || c == '-' || c == '.';
    });
}

Parts split_reference(std::string_view text) {
    Parts parts;
    bool has_fragment = false;
    parts.fragment = cut_from(text, '#', has_fragment);
    parts.query = cut_from(text, '?', parts.has_query);
    if (const auto colon = text.find(':');
        colon != std::string_view::npos && is_scheme(text.substr(0, colon))) {
        parts.scheme = text.substr(0, colon);
        text.remove_prefix(colon + 1);
    }
    if (text.starts_with("//")) {
        parts.has_authority = true;
        text.remove_prefix(2);
        parts.authority = text.substr(0, text.find('/'));
        text.remove_prefix(parts.authority.size());
    }
    parts.path = text;
    return parts;
}

// Hides everything before an `@`: it may contain a password.
tl::unexpected<Error> refuse(std::string_view text, const std::string& why, std::string advice = {}) {
    const auto at = text.rfind('@');
    std::string shown(text.substr(at == std::string_view::npos ? 0 : at));
    if (at != std::string_view::npos) shown = "****" + shown;
    return fail("url.invalid", "This URL " + why, shown.substr(0, 200), std::move(advice));
}

bool is_url_character(char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte < 0x7F && std::string_view("\"<>\\^`{|}").find(c) == std::string_view::npos;
}

bool is_host(std::string_view host) {
    if (host.starts_with('[')) {
        return host.size() > 3 && host.ends_with(']') &&
               std::all_of(host.begin() + 1, host.end() - 1,
                           [](char c) { return is_ascii_alnum(c) || c == ':' || c == '.'; });
    }
    return !host.empty() && std::all_of(host.begin(), host.end(), [](char c) {
        return is_ascii_alnum(c) || c == '-' || c == '.' || c == '_';
    });
}

Status read_authority(std::string_view whole, std::string_view authority, Url& url) {
    if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
        url.userinfo = std::string(authority.substr(0, at));
        authority.remove_prefix(at + 1);
        if (url.userinfo.find('@') != std::string::npos) {
            return refuse(whole, "has two `@` before its host", "write an `@` in a password as %40");
        }
    }
    const auto after_bracket = authority.find(']');
    const auto colon = authority.find(':', after_bracket == std::string_view::npos ? 0 : after_bracket);
    url.host = ascii_lower(authority.substr(0, colon));
    if (colon != std::string_view::npos) {
        url.port = std::string(authority.substr(colon + 1));
        const auto number = parse_decimal(url.port);
        if (!url.port.empty() && (!number || *number == 0 || *number > 65535)) {
            return refuse(whole, "has no port between 1 and 65535 after its host");
        }
    }
    if (url.scheme == "file") {
        if (!url.userinfo.empty() || !url.port.empty() || (!url.host.empty() && url.host != "localhost")) {
            return refuse(whole, "names a file on another host", "write it like file:///folder/file");
        }
        url.host.clear();
    } else if (!is_host(url.host)) {
        return refuse(whole, "has no host name", "write it like https://host/path");
    }
    return {};
}

// RFC 3986 §5.2.4, on the segments of an absolute path.
std::string remove_dot_segments(std::string_view path) {
    std::vector<std::string> kept;
    const auto segments = split(path.substr(1), '/');
    for (std::size_t i = 0; i < segments.size(); ++i) {
        const bool last = i + 1 == segments.size();
        const bool up = segments[i] == "..";
        if (!up && segments[i] != ".") {
            kept.emplace_back(segments[i]);
            continue;
        }
        if (up && !kept.empty()) kept.pop_back();
        if (last) kept.emplace_back();
    }
    return "/" + join(kept, "/");
}

Status check_characters(std::string_view text) {
    constexpr std::size_t max_bytes = 8 << 10;
    if (text.size() > max_bytes) return refuse(text, "has more than 8192 bytes");
    if (std::all_of(text.begin(), text.end(), is_url_character)) return {};
    return refuse(text, "has a character that must be percent-encoded");
}

}  // namespace

std::string Url::text() const {
    std::string out = scheme + "://";
    if (!userinfo.empty()) out += userinfo + "@";
    out += host;
    if (!port.empty()) out += ":" + port;
    out += path;
    if (!query.empty()) out += "?" + query;
    if (!fragment.empty()) out += "#" + fragment;
    return out;
}

std::string Url::host_and_port() const {
    return host + ":" + (!port.empty() ? port : scheme == "https" ? "443" : "80");
}

bool names_host(const std::set<std::string>& hosts, const Url& url) {
    const std::string full = url.host_and_port();
    const bool has_default_port = full == Url{url.scheme, {}, url.host, {}, {}, {}, {}}.host_and_port();
    return hosts.contains(full) || (has_default_port && hosts.contains(url.host));
}

std::string Url::text_without_secrets() const {
    Url shown = *this;
    if (!userinfo.empty()) shown.userinfo = "****";
    return shown.text();
}

Result<Url> parse_url(std::string_view text) {
    WHEELYARD_TRY(check_characters(text));
    const auto parts = split_reference(text);
    Url url;
    url.scheme = ascii_lower(parts.scheme);
    if (url.scheme != "http" && url.scheme != "https" && url.scheme != "file") {
        return refuse(text, "does not begin with https://, http:// or file://");
    }
    if (!parts.has_authority) return refuse(text, "has no `//` after its scheme");
    WHEELYARD_TRY(read_authority(text, parts.authority, url));
    url.path = parts.path.empty() ? "/" : std::string(parts.path);
    url.query = std::string(parts.query);
    url.fragment = std::string(parts.fragment);
    return url;
}

Result<Url> resolve_url(const Url& base, std::string_view reference) {
    reference = trim(reference);  // HTML strips whitespace from href values
    WHEELYARD_TRY(check_characters(reference));
    const auto parts = split_reference(reference);
    if (!parts.scheme.empty() || parts.has_authority) {
        WHEELYARD_ASSIGN(auto url, parse_url(parts.scheme.empty() ? base.scheme + ":" + std::string(reference)
                                                                  : std::string(reference)));
        url.path = remove_dot_segments(url.path);
        return url;
    }
    Url url = base;
    url.fragment = std::string(parts.fragment);
    if (parts.path.empty()) {
        if (parts.has_query) url.query = std::string(parts.query);
        return url;
    }
    url.query = std::string(parts.query);
    const auto folder = base.path.substr(0, base.path.rfind('/') + 1);
    url.path = remove_dot_segments(parts.path.starts_with('/') ? std::string(parts.path)
                                                               : folder + std::string(parts.path));
    return url;
}

Result<std::string> last_segment(const Url& url) {
    WHEELYARD_ASSIGN(auto name, decode_percent(base_name(url.path)));
    if (name.empty() || name == "." || name == ".." ||
        name.find_first_of(std::string_view("/\0", 2)) != name.npos) {
        return fail("url.no_file_name", "The last part of this URL is not a file name",
                    url.text_without_secrets());
    }
    return name;
}

bool is_loopback_host(const std::string& host) {
    if (host == "localhost") return true;
    if (host.starts_with('[') && host.ends_with(']')) {
        in6_addr address{};
        const std::string inside = host.substr(1, host.size() - 2);
        return ::inet_pton(AF_INET6, inside.c_str(), &address) == 1 && IN6_IS_ADDR_LOOPBACK(&address);
    }
    constexpr std::uint32_t loopback_net = 127;
    constexpr unsigned net_shift = 24;
    in_addr address{};  // 127.0.0.1, and not the name 127.example.org
    return ::inet_pton(AF_INET, host.c_str(), &address) == 1 &&
           ntohl(address.s_addr) >> net_shift == loopback_net;
}

}  // namespace wheelyard::base
