// The last part of a path or of a URL's path.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace wheelyard::base {

// What follows the last slash, or the whole text. A view into `path`, so a temporary string is refused where the call is
// compiled.
[[nodiscard]] constexpr std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}
template <std::same_as<std::string> T>
std::string_view base_name(T&& temporary) = delete;

}  // namespace wheelyard::base
