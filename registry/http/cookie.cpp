#include "registry/http/cookie.hpp"

#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"

namespace wheelyard::http {
namespace {

constexpr std::string_view cookie_name = "wheelyard-read";
constexpr std::size_t max_cookie_bytes = 200;  // those of set_cookie() have half
constexpr std::size_t max_cookies = 3;         // of the name: each is checked

}  // namespace

void take_cookie(RequestHead& head) {
    const bool reads = head.method == "GET" || head.method == "HEAD";
    const bool is_from_here =
        head.origin.empty() &&
        (head.fetch_site.empty() || head.fetch_site == "same-origin" || head.fetch_site == "none");
    if (!reads || !is_from_here || !head.authorization.empty()) return;
    std::size_t taken = 0;
    for (const std::string_view part : base::split(head.cookie, ';')) {
        const std::string_view pair = base::trim(part);
        const auto equals = pair.find('=');
        if (equals == std::string_view::npos || pair.substr(0, equals) != cookie_name) continue;
        const std::string_view value = pair.substr(equals + 1);
        if (value.empty() || value.size() > max_cookie_bytes) continue;
        head.authorization.append(taken == 0 ? cookie_scheme : " ").append(value);
        if (++taken == max_cookies) return;
    }
}

std::string set_cookie(std::string_view base_url, std::string_view index, std::string_view value) {
    const auto url = base::parse_url(base_url);
    std::string text(cookie_name);
    text.append("=").append(value).append("; Path=");
    if (url) text.append(url->path.ends_with('/') ? url->path.substr(0, url->path.size() - 1) : url->path);
    text.append("/").append(base::encode_percent(index)).append("/; HttpOnly; SameSite=Strict");
    if (url && url->scheme == "https") text += "; Secure";
    if (value.empty()) text += "; Max-Age=0";
    return text;
}

}  // namespace wheelyard::http
