// Encoders and strict decoders. A decoder accepts only the canonical form of a value; texts that decode to
// equal values are therefore equal.
#include "lib/base/text/encoding.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "lib/base/text/text.hpp"

namespace wheelyard::base {
namespace {

constexpr std::string_view hex_lower = "0123456789abcdef";
constexpr std::string_view hex_upper = "0123456789ABCDEF";
constexpr std::string_view base64_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view base64url_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int hex_value(char c) {
    if (is_ascii_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

std::string encode_64(std::string_view bytes, std::string_view alphabet, bool padded) {
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const auto group = bytes.substr(i, 3);
        std::uint32_t bits = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            bits = bits << 8 | (k < group.size() ? static_cast<unsigned char>(group[k]) : 0u);
        }
        for (std::size_t k = 0; k <= group.size(); ++k)
            out += alphabet[bits >> (18 - 6 * k) & 63];
        if (padded) out.append(3 - group.size(), '=');
    }
    return out;
}

using SixBits = std::array<std::int16_t, 256>;

constexpr SixBits invert(std::string_view alphabet) {
    SixBits table{};
    table.fill(-1);
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        table[static_cast<unsigned char>(alphabet[i])] = static_cast<std::int16_t>(i);
    }
    return table;
}

constexpr SixBits base64_values = invert(base64_alphabet);
constexpr SixBits base64url_values = invert(base64url_alphabet);

// `text` without its padding. RFC 4648 §3.5: bits past the last whole byte must be zero.
Result<std::string> decode_64(std::string_view text, const SixBits& values) {
    const auto refuse = [&](const char* why) {
        return fail("encoding.base64", std::string("This is not base64: ") + why,
                    std::string(text.substr(0, 100)));
    };
    if (text.size() % 4 == 1) return refuse("its length is invalid");
    std::string out;
    out.reserve(text.size() * 3 / 4);
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        const int value = values[static_cast<unsigned char>(c)];
        if (value < 0) return refuse("it contains a character outside the alphabet");
        bits = (bits << 6 | static_cast<std::uint32_t>(value)) & 0xFFFFFF;
        count += 6;
        if (count >= 8) {
            count -= 8;
            out += static_cast<char>(bits >> count & 0xFF);
        }
    }
    if ((bits & ((1u << count) - 1)) != 0) return refuse("its last character has non-zero padding bits");
    return out;
}

// RFC 3986 §2.3, as a byte table: encoding runs for every file of every page.
constexpr ByteSet unreserved("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~");

std::size_t padding_of(std::string_view text) {
    std::size_t count = 0;
    while (count < 2 && count < text.size() && text[text.size() - 1 - count] == '=')
        ++count;
    return count;
}

}  // namespace

std::string encode_hex(std::string_view bytes) {
    std::string out;
    out.reserve(bytes.size() * 2);
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += hex_lower[byte >> 4];
        out += hex_lower[byte & 15];
    }
    return out;
}

Result<std::string> decode_hex(std::string_view text) {
    const auto refuse = [&] {
        return fail("encoding.hex", "This is not an even number of hexadecimal digits",
                    std::string(text.substr(0, 100)));
    };
    if (text.size() % 2 != 0) return refuse();
    std::string out;
    out.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2) {
        const int high = hex_value(text[i]);
        const int low = hex_value(text[i + 1]);
        if (high < 0 || low < 0) return refuse();
        out += static_cast<char>(high << 4 | low);
    }
    return out;
}

std::string encode_base64(std::string_view bytes) {
    return encode_64(bytes, base64_alphabet, true);
}
std::string encode_base64url(std::string_view bytes) {
    return encode_64(bytes, base64url_alphabet, false);
}

Result<std::string> decode_base64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return fail("encoding.base64", "Base64 text must have a multiple of four characters",
                    std::string(text.substr(0, 100)));
    }
    return decode_64(text.substr(0, text.size() - padding_of(text)), base64_values);
}

Result<std::string> decode_base64url(std::string_view text) {
    const auto padding = padding_of(text);
    if (padding > 0 && text.size() % 4 != 0) {
        return fail("encoding.base64", "Padded base64 text must have a multiple of four characters",
                    std::string(text.substr(0, 100)));
    }
    return decode_64(text.substr(0, text.size() - padding), base64url_values);
}

std::string encode_percent(std::string_view text) {
    std::string out;
    append_percent(out, text);
    return out;
}

void append_percent(std::string& out, std::string_view text) {
    // Fast path: almost all wheel names contain unreserved characters only.
    if (std::all_of(text.begin(), text.end(), [](char c) { return unreserved.has(c); })) {
        out.append(text);
        return;
    }
    for (const char c : text) {
        if (unreserved.has(c)) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            out += '%';
            out += hex_upper[byte >> 4];
            out += hex_upper[byte & 15];
        }
    }
}

Result<std::string> decode_percent(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        const int high = text.size() - i > 2 ? hex_value(text[i + 1]) : -1;
        const int low = text.size() - i > 2 ? hex_value(text[i + 2]) : -1;
        if (high < 0 || low < 0) {
            return fail("encoding.percent", "A percent sign is not followed by two hexadecimal digits",
                        std::string(text.substr(0, 100)), "encode a literal percent sign as %25");
        }
        out += static_cast<char>(high << 4 | low);
        i += 2;
    }
    return out;
}

std::string escape_html(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        const auto special = std::string_view("&<>\"'").find(c);
        if (special == std::string_view::npos)
            out += c;
        else
            out += std::array{"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"}[special];
    }
    return out;
}

std::string quote_shell(std::string_view text) {
    const auto harmless = [](char c) {
        return is_ascii_alnum(c) || std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
    };
    bool plain = !text.empty();
    for (const char c : text)
        plain = plain && harmless(c);
    if (plain) return std::string(text);
    return "'" + replace_all(text, "'", "'\\''") + "'";
}

}  // namespace wheelyard::base
