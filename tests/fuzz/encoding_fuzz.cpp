// Encoders and decoders are inverse, and a decoder accepts only one spelling of a value.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "lib/base/clock.hpp"
#include "lib/base/text/encoding.hpp"
#include "lib/base/text/text.hpp"

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace wheelyard::base;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    require(decode_hex(encode_hex(bytes)) == bytes);
    require(decode_base64(encode_base64(bytes)) == bytes);
    require(decode_base64url(encode_base64url(bytes)) == bytes);
    require(decode_percent(encode_percent(bytes)) == bytes);
    if (const auto plain = decode_hex(bytes)) require(encode_hex(*plain) == ascii_lower(bytes));
    if (const auto plain = decode_base64(bytes)) require(encode_base64(*plain) == bytes);
    if (const auto plain = decode_base64url(bytes)) {
        require(encode_base64url(*plain) == bytes.substr(0, bytes.find('=')));
    }
    static_cast<void>(decode_percent(bytes));
    if (const auto time = parse_rfc3339(bytes)) require(parse_rfc3339(render_rfc3339(*time)) == *time);
    const auto half = size / 2;
    static_cast<void>(matches_glob(bytes.substr(0, half), bytes.substr(half)));
    static_cast<void>(is_utf8(bytes));
    return 0;
}
