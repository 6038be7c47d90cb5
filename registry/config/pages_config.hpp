// `[pages]`: what a farm says of itself in its web UI, and how that looks.
#pragma once

#include <string>

#include "lib/io/toml.hpp"
#include "lib/page/farm.hpp"

namespace wheelyard::registry {

struct PagesConfig {
    std::string text;     // what this farm is, on the front page
    std::string contact;  // URL or address of electronic mail
    std::string style;    // the style sheet of its colours; may be empty
    std::string logo;     // the bytes of its logo; may be empty
    page::Farm farm;      // the name, and the published names of style and logo
};

// Reports a colour that is not readable and a logo that is none.
[[nodiscard]] PagesConfig read_pages(io::TomlTable table);

}  // namespace wheelyard::registry
