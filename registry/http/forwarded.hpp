// What a proxy says of the client's request, in the fields that proxies add. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "registry/http/request_head.hpp"

namespace wheelyard::http {

// Cuts the last element off a list, as the proxy that is nearest has added it; empty: there is none.
[[nodiscard]] std::string_view take_last_of_list(std::string_view& list);
// The value of a parameter of an element of Forwarded: `for=192.0.2.1;proto=https;host="h:8443"`. A quoted value with an escape
// is none that is used here.
[[nodiscard]] std::string_view parameter_of(std::string_view element, std::string_view name);

// Whether `peer`, an address or "unix", is one of `trusted_proxies`.
[[nodiscard]] bool is_proxy(std::string_view peer, const std::vector<std::string>& trusted);
// Removes the proxy_fields that are not among the `trusted` names: the proxies do not set them.
void remove_untrusted_fields(RequestHead& head, const std::vector<std::string>& trusted);
// Whom a limit for each client counts: the address of the nearest host that is none of the `trusted` proxies, which say it in
// X-Forwarded-For or else in Forwarded (RFC 7239). Of IPv6 the network of 64 bits, which one host has all
// addresses of.
[[nodiscard]] std::string client_of(const RequestHead& head, std::string_view peer,
                                    const std::vector<std::string>& trusted);

// Of IPv6 the 56 bits that a home gets of its provider, no less (RFC 6177, RIPE-690): by /64 each would count as 256 homes, and by
// /48 the customers of a provider as one. Of IPv4 the address.
[[nodiscard]] std::string home_of_client(std::string_view client);
// The network of such an address that counts as one: 24 bits of IPv4, 56 of IPv6.
[[nodiscard]] std::string network_of_client(std::string_view client);

}  // namespace wheelyard::http
