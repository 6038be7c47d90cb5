// The two pages that the server renders itself: the list of indexes, and how to use one. No I/O.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace wheelyard::http {

[[nodiscard]] std::string render_front_page(const std::set<std::string, std::less<>>& indexes);
// `base_url` is the server's URL as the reader sees it, such as "https://wheels.example.org".
[[nodiscard]] std::string render_index_page(std::string_view index, std::string_view base_url);

}  // namespace wheelyard::http
