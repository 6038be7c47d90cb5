// Bytes as text: hex, base64, percent-encoding, HTML and shell quoting.
#pragma once

#include <string>
#include <string_view>

#include "lib/base/result.hpp"

namespace wheelyard::base {

[[nodiscard]] std::string encode_hex(std::string_view bytes);  // lower case
[[nodiscard]] Result<std::string> decode_hex(std::string_view text);
[[nodiscard]] std::string encode_base64(std::string_view bytes);  // RFC 4648 §4, padded
[[nodiscard]] Result<std::string> decode_base64(std::string_view text);
[[nodiscard]] std::string encode_base64url(std::string_view bytes);  // RFC 4648 §5, unpadded, as in RECORD
[[nodiscard]] Result<std::string> decode_base64url(std::string_view text);  // padding optional
// Encodes every byte except RFC 3986's unreserved characters, `/` included, as %XX ("+" → "%2B").
[[nodiscard]] std::string encode_percent(std::string_view text);
void append_percent(std::string& out, std::string_view text);             // appends
[[nodiscard]] Result<std::string> decode_percent(std::string_view text);  // `+` stays `+`
[[nodiscard]] std::string escape_html(std::string_view text);             // & < > " '
// One word for a POSIX shell: unchanged if it is safe, otherwise in single quotes.
[[nodiscard]] std::string quote_shell(std::string_view text);

}  // namespace wheelyard::base
