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
[[nodiscard]] std::string encode_base64url(std::string_view bytes);  // RFC 4648 §5, unpadded: RECORD's form
[[nodiscard]] Result<std::string> decode_base64url(std::string_view text);  // padding optional
// Everything but RFC 3986's unreserved characters becomes %XX ("+" → "%2B"); `/` too.
[[nodiscard]] std::string encode_percent(std::string_view text);
void append_percent(std::string& out, std::string_view text);             // the same, behind what is there
[[nodiscard]] Result<std::string> decode_percent(std::string_view text);  // `+` stays `+`
[[nodiscard]] std::string escape_html(std::string_view text);             // & < > " '
// One word of a POSIX shell: as it is when harmless, else in single quotes.
[[nodiscard]] std::string quote_shell(std::string_view text);

}  // namespace wheelyard::base
