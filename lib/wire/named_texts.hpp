// Pairs of texts as a JSON object: {"c++":"c++ (GCC) 12.2.0"}.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/io/json.hpp"

namespace wheelyard::wire {

using NamedTexts = std::vector<std::pair<std::string, std::string>>;

[[nodiscard]] io::Json render_named_texts(const NamedTexts& texts);
// The texts of the member `name`; other values are ignored.
[[nodiscard]] NamedTexts named_texts_in(const io::Json& json, std::string_view name);

}  // namespace wheelyard::wire
