// Small letters for comparing what people type with what projects write, independent of the locale.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::base {

// Latin letters with their accents up to U+017F, Greek and Cyrillic; others stay. "É" becomes "é", "İ" "i". fold() of
// lib/page/assets/common.js has the same rule.
[[nodiscard]] std::string fold_case(std::string_view text);

}  // namespace wheelyard::base
