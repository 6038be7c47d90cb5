// What a site sets for the pages of its farm: name, colours, logo.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::page {

// In the frame of every page. The files lie beside the assets; like theirs, their names contain their hash.
struct Farm {
    std::string name = {};   // in the header; empty: "Wheelyard"
    std::string style = {};  // the published name of its style sheet; empty: none
    std::string logo = {};   // that of its logo, shown before the name; empty: ours
    std::string url = {};    // "https://wheels.example.org", where readers find it; empty: nobody has said
    std::string login = {};  // the address of its page of log-ins; empty: nobody can log in
};

enum class Scheme { light, dark };

// Empty if `colour` ("#0b57a4") is readable as the text of links on the grounds of this scheme (WCAG 2.2,
// 1.4.3: contrast of at least 4.5), otherwise what is wrong.
[[nodiscard]] std::string colour_fault(std::string_view colour, Scheme scheme);
// A style sheet that sets the colour of links and marks; an empty colour leaves ours. Empty for two empty
// ones.
[[nodiscard]] std::string render_farm_style(std::string_view light, std::string_view dark);

// "farm.0123456789ab.css", "logo.0123456789ab.svg"
[[nodiscard]] std::string farm_file_name(std::string_view stem, std::string_view extension,
                                         std::string_view bytes);
// Says whether farm_file_name() could have made it.
[[nodiscard]] bool is_farm_file_name(std::string_view name);
// The media type of such a file.
[[nodiscard]] std::string_view farm_file_type(std::string_view name);

}  // namespace wheelyard::page
