// The style sheet and the scripts of all pages, embedded at build time from lib/page/assets/. Their published
// names contain the hash of their bytes, so they may be cached permanently: style.0123456789ab.css.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace wheelyard::page {

struct Asset {
    std::string_view name;  // "style.css"
    std::string_view hash;  // the first digits of the SHA-256 of its bytes
    std::string_view content_type;
    std::string_view bytes;
    [[nodiscard]] std::string published_name() const;
};

[[nodiscard]] std::span<const Asset> assets();
// By its file name in the source folder; it must exist.
[[nodiscard]] const Asset& asset(std::string_view name);
// nullptr: no such asset.
[[nodiscard]] const Asset* find_asset(std::string_view published_name);
// Changes with every asset and template, and with the program's version: pages of another look are rendered
// again.
[[nodiscard]] std::string look();

}  // namespace wheelyard::page
