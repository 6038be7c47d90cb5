// The two pages that no indexer writes: which indexes there are, and how to use one. Rendered text, no I/O.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

namespace wheelyard::http {

[[nodiscard]] std::string render_front_page(const std::set<std::string, std::less<>>& indexes);
// `base_url` is "https://wheels.example.org": the line to copy then names the server as its reader sees it.
[[nodiscard]] std::string render_index_page(std::string_view index, std::string_view base_url);

}  // namespace wheelyard::http
