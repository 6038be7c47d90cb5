#include "registry/http/origin.hpp"

#include <string>

#include "lib/base/text/url.hpp"

namespace wheelyard::http {

bool is_from_other_site(const RequestHead& head, std::string_view base_url) {
    if (head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS") return false;
    if (!head.fetch_site.empty()) return head.fetch_site != "same-origin" && head.fetch_site != "none";
    if (head.origin.empty()) return false;
    const auto origin = base::parse_url(head.origin);  // "null" is no URL
    const auto own = base::parse_url(base_url);
    return !origin || !own || origin->host != own->host;
}

}  // namespace wheelyard::http
