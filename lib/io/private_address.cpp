#include "lib/io/private_address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace wheelyard::io {
namespace {

struct Range4 {
    std::uint32_t network;
    int bits;
};

constexpr std::uint32_t ip(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    return a << 24 | b << 16 | c << 8 | d;
}

// IANA IPv4 Special-Purpose Address Registry (RFC 6890), multicast and class E.
constexpr std::array private_4{
    Range4{ip(0, 0, 0, 0), 8},      Range4{ip(10, 0, 0, 0), 8},     Range4{ip(100, 64, 0, 0), 10},
    Range4{ip(127, 0, 0, 0), 8},    Range4{ip(169, 254, 0, 0), 16}, Range4{ip(172, 16, 0, 0), 12},
    Range4{ip(192, 0, 0, 0), 24},   Range4{ip(192, 0, 2, 0), 24},   Range4{ip(192, 88, 99, 0), 24},
    Range4{ip(192, 168, 0, 0), 16}, Range4{ip(198, 18, 0, 0), 15},  Range4{ip(198, 51, 100, 0), 24},
    Range4{ip(203, 0, 113, 0), 24}, Range4{ip(224, 0, 0, 0), 4},    Range4{ip(240, 0, 0, 0), 4}};

bool is_private_4(std::uint32_t address) {
    return std::any_of(private_4.begin(), private_4.end(), [address](const Range4& range) {
        return (address ^ range.network) >> (32 - range.bits) == 0;
    });
}

std::uint32_t number_at(const unsigned char* bytes) {
    return ip(bytes[0], bytes[1], bytes[2], bytes[3]);
}

// Only 2000::/3 is global unicast. Of it, the ranges that wrap or document other addresses are judged by
// content.
bool is_private_6(const unsigned char* bytes) {
    constexpr unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    constexpr unsigned char nat64[12] = {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0};
    if (std::memcmp(bytes, mapped, sizeof mapped) == 0 || std::memcmp(bytes, nat64, sizeof nat64) == 0)
        return is_private_4(number_at(bytes + 12));
    if ((bytes[0] & 0xe0) != 0x20) return true;
    const std::uint32_t first = number_at(bytes);
    if (first >> 16 == 0x2002) return is_private_4(number_at(bytes + 2));  // 6to4
    return first >> 9 == 0x20010000u >> 9 || first == 0x20010db8u;         // 2001::/23, documentation
}

}  // namespace

bool is_private_address(const sockaddr& address) {
    if (address.sa_family == AF_INET) {
        sockaddr_in four{};
        std::memcpy(&four, &address, sizeof four);
        return is_private_4(ntohl(four.sin_addr.s_addr));
    }
    if (address.sa_family == AF_INET6) {
        sockaddr_in6 six{};
        std::memcpy(&six, &address, sizeof six);
        return is_private_6(six.sin6_addr.s6_addr);
    }
    return true;
}

std::string render_address(const sockaddr& address) {
    char text[INET6_ADDRSTRLEN] = {};
    sockaddr_storage copy{};
    if (address.sa_family == AF_INET) {
        std::memcpy(&copy, &address, sizeof(sockaddr_in));
        ::inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in&>(copy).sin_addr, text, sizeof text);
    } else if (address.sa_family == AF_INET6) {
        std::memcpy(&copy, &address, sizeof(sockaddr_in6));
        ::inet_ntop(AF_INET6, &reinterpret_cast<sockaddr_in6&>(copy).sin6_addr, text, sizeof text);
    }
    return text;
}

}  // namespace wheelyard::io
