// One untrusted request: head, target, Accept, Range, conditions, and the rest as a chunked body.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "lib/base/text/text.hpp"
#include "lib/base/text/url.hpp"
#include "registry/access/reading_cookie.hpp"
#include "registry/http/chunked.hpp"
#include "registry/http/cookie.hpp"
#include "registry/http/forwarded.hpp"
#include "registry/http/negotiation.hpp"
#include "registry/http/ranges.hpp"
#include "registry/http/request_head.hpp"
#include "registry/http/routes.hpp"

namespace {

using namespace wheelyard::http;

void require(bool holds) {
    if (!holds) std::abort();
}

// One component of a path, or nothing.
void require_plain(std::string_view part) {
    require(part.find_first_of(std::string_view("/\\\r\n\0", 5)) == std::string_view::npos);
    require(part.empty() || part[0] != '.');
}

void try_target(std::string_view target) {
    const auto route = parse_target(target);
    if (!route) {
        require(route.error().status >= 400 && route.error().status < 500);
        return;
    }
    // Nothing that reaches the file system or a Location may contain "..", be hidden or break a line.
    for (const std::string_view part :
         {std::string_view(route->index), std::string_view(route->project), std::string_view(route->version),
          std::string_view(route->sha256), std::string_view(route->upload_id)})
        require_plain(part);
    if (route->kind == RouteKind::listing || route->kind == RouteKind::web_page)  // a path below the index
        for (const std::string_view part : wheelyard::base::split(route->filename, '/')) {
            require(!part.empty());
            require_plain(part);
        }
    else
        require_plain(route->filename);
    require(route->location.find_first_of("\r\n") == std::string::npos);
    require(!route->location.starts_with("//"));
    if (route->kind != RouteKind::redirect) return;
    const auto next = parse_target(
        route->location);  // a valid URL except for its ?format= and a length just beyond the limit
    // What a client that follows it asks for, below whatever path.
    const std::string asked = "http://host/a" + std::string(path_of_target(target));
    if (const auto base = wheelyard::base::parse_url(asked); base && base->text() == asked) {
        const auto reached =
            wheelyard::base::resolve_url(*base, relative_url(path_of_target(target), route->location));
        if (reached) require(reached->text() == "http://host/a" + route->location);  // else it is no URI
    }
    require(next ? next->kind != RouteKind::redirect
                 : next.error().status == 406 || next.error().status == 414);
}

void try_range(std::string_view range, std::uint64_t size) {
    const RangeChoice choice = choose_range(range, size);
    if (choice.kind == RangeKind::part)
        require(choice.length > 0 && choice.offset < size && choice.length <= size - choice.offset);
}

// The data must not depend on how the body is split.
void try_chunked(std::string_view wire) {
    std::string out(wire.size() + 1, '\0');
    ChunkDecoder whole;
    const auto at_once = whole.decode(wire, out.data(), out.size());
    ChunkDecoder bytewise;
    std::string collected;
    bool accepted = true;
    for (std::size_t i = 0; accepted && i < wire.size() && !bytewise.ended(); ++i) {
        char byte = 0;
        const auto step = bytewise.decode(wire.substr(i, 1), &byte, 1);
        accepted = step.has_value();
        if (accepted) collected.append(&byte, step->produced);
    }
    require(accepted == at_once.has_value());
    if (accepted) require(collected == std::string_view(out).substr(0, at_once->produced));
    require(whole.ended() == bytewise.ended());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t end = find_head_end(input, 0);
    try_target(input.substr(0, input.find('\n')));
    if (end == std::string_view::npos) return 0;
    try_chunked(input.substr(end));
    const auto head = parse_request_head(input.substr(0, end));
    if (!head) return 0;
    require(!(head->chunked && head->content_length));
    try_target(head->target);
    (void)is_from_other_site(*head, "https://wheels.example.org");
    // Whatever a cookie is, its credentials are short, and those of nobody who has a token.
    wheelyard::http::RequestHead reading = *head;
    take_cookie(reading);
    if (reading.authorization != head->authorization) {
        require(head->authorization.empty() && reading.authorization.size() < 256);
        require(reading.authorization.starts_with(cookie_scheme));
        require(reading.method == "GET" || reading.method == "HEAD");
        (void)wheelyard::registry::cookies_of_authorization(reading.authorization);
    }
    // Whatever a proxy passes on of what a client has sent, it names a host and a path.
    wheelyard::http::RequestHead proxied = *head;
    proxied.host = "host";
    const std::string url = public_url_of(proxied, true, true, "");
    require(url.starts_with("https://") || url.starts_with("http://"));
    require(url.find_first_of("\"'<>&\\@?# \t\r\n") == std::string::npos && !url.ends_with('/'));
    require((url + "/").find("/../") == std::string::npos && url.find("//") == url.rfind("//"));
    // Whatever they say, who is limited by it has a short name.
    const std::string client = client_of(proxied, "127.0.0.1", {"127.0.0.1"});
    require(!client.empty() && client.size() <= 64);
    (void)choose_page_form(head->accept);
    try_range(head->range, 0);
    try_range(head->range, 10);
    try_range(head->range, UINT64_MAX);
    (void)not_modified(head->if_none_match, head->if_modified_since, "\"tag\"", 0);
    (void)range_still_valid(head->if_range, "\"tag\"", "Fri, 20 Nov 2026 07:47:35 GMT");
    return 0;
}
