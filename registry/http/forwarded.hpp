// What a proxy says of the client's request, in the fields that proxies add. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/http/request_head.hpp"

namespace wheelyard::http {

// Cuts the last element off a list, as the proxy that is nearest has added it; empty: there is none.
[[nodiscard]] std::string_view take_last_of_list(std::string_view& list);
// The value of a parameter of an element of Forwarded: `for=192.0.2.1;proto=https;host="h:8443"`. A quoted
// value with an escape is none that is used here.
[[nodiscard]] std::string_view parameter_of(std::string_view element, std::string_view name);

// Says whether `peer`, an address or "unix", is one of `trusted_proxies`.
[[nodiscard]] bool is_proxy(std::string_view peer, const std::vector<std::string>& trusted);
// Removes the proxy_fields that are not among the `trusted` names: the proxies do not set them.
void remove_untrusted_fields(RequestHead& head, const std::vector<std::string>& trusted);
// Whom a limit for each client counts: the address of the nearest host that is none of the `trusted` proxies,
// which say it in X-Forwarded-For or else in Forwarded (RFC 7239). Of IPv6 the network of 64 bits, which one
// host has all addresses of.
[[nodiscard]] std::string client_of(const RequestHead& head, std::string_view peer,
                                    const std::vector<std::string>& trusted);

// Of IPv6 the 56 bits that a home gets of its provider, no less (RFC 6177, RIPE-690): by /64 each would count
// as 256 homes, and by /48 the customers of a provider as one. Of IPv4 the address.
[[nodiscard]] std::string home_of_client(std::string_view client);
// The network of such an address that counts as one: 24 bits of IPv4, 56 of IPv6.
[[nodiscard]] std::string network_of_client(std::string_view client);

// The URL at which clients see this server: where no relative link will do, it names the server, and a page
// of another site is known by it. Pure.

// "https://wheels.example.org/pypi", without a last slash. `configured`: the configuration's public_url,
// which wins. Otherwise the request's own Host, or, `is_from_proxy` that the configuration names, what that
// says of the client's request: X-Forwarded-Proto, -Host and -Prefix, each or else Forwarded (RFC 7239),
// which has no prefix. Of a list only the last element counts, the one that this proxy has added. A value
// that is no scheme, host or path is as if it were absent.
[[nodiscard]] std::string public_url_of(const RequestHead& head, bool is_tls, bool is_from_proxy,
                                        std::string_view configured);

// Says whether a page of another site made a browser send a request (CSRF). True of a request that may change
// something and comes from a page of another site, by Sec-Fetch-Site (W3C Fetch Metadata) or else by Origin
// (RFC 6454 §7): a browser adds a password that its user typed once to such requests, too. Programs send
// neither field. `base_url`: this server as the client sees it. Ports do not count: a proxy may remove that
// of the server.
[[nodiscard]] bool is_from_other_site(const RequestHead& head, std::string_view base_url);

// Links that hold below any path at which a proxy shows this server: relative to the address of the request
// (RFC 3986 §4.2). Pure.

// The path of a request target: "/path?query", or the absolute form that proxies send (RFC 9112 §3.2.2).
// Begins with '/', or is empty if the target names no path.
[[nodiscard]] std::string_view path_of_target(std::string_view target);

// `to`, a percent-encoded absolute path of this server with or without a query, as a client that has asked
// for `from` reaches it:
//     relative_url("/main/simple/Six", "/main/simple/six/") is "six/"; ("/main/simple/x/", "/") is "../../../"
[[nodiscard]] std::string relative_url(std::string_view from, std::string_view to);

// From the address of a request to the front page: "./", "../../".
[[nodiscard]] std::string root_from(const RequestHead& head);

}  // namespace wheelyard::http
