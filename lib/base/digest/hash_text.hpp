// FNV-1a, 64 bits: names of cached files and keys of tables. Not for untrusted bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wheelyard::base {

[[nodiscard]] std::uint64_t hash_text(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325u);
[[nodiscard]] std::string hash_text_hex(std::string_view text);  // 16 digits

}  // namespace wheelyard::base
