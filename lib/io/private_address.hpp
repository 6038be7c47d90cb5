// Which addresses are not on the public Internet. A server that fetches what others name must not connect to
// them: they belong to this machine, to its site, or to the cloud's metadata service.
#pragma once

#include <sys/socket.h>

#include <string>

namespace wheelyard::io {

// Loopback, private, link-local, shared, multicast, reserved and unspecified addresses (IANA's
// special-purpose registries), also inside of IPv6 (mapped, NAT64, 6to4). Every family but IPv4 and IPv6 is
// private.
[[nodiscard]] bool is_private_address(const sockaddr& address);

// "127.0.0.1", "::1"; empty for other families.
[[nodiscard]] std::string render_address(const sockaddr& address);

}  // namespace wheelyard::io
