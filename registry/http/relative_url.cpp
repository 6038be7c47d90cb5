#include "registry/http/relative_url.hpp"

#include <algorithm>

#include "lib/base/text/text.hpp"

namespace wheelyard::http {

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
