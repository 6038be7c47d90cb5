// A description is any text: of what is rendered of it, every tag is one that we make, and no link runs a script. The first byte
// chooses the format.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "indexer/web/markdown.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static constexpr std::array types{"text/x-rst", "text/markdown", ""};
    static constexpr std::array tags{"a",     "blockquote", "br", "code",  "del",    "details", "div",
                                     "em",    "h3",         "h4", "h5",    "h6",     "hr",      "li",
                                     "nav",   "ol",         "p",  "pre",   "strong", "summary", "table",
                                     "tbody", "td",         "th", "thead", "tr",     "ul"};
    if (size == 0) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::string html =
        wheelyard::indexer::render_description(text, types[data[0] % types.size()]).bytes();
    const bool is_rst = data[0] % types.size() == 0;  // a table of Markdown may be large
    if (is_rst && html.size() > 4'000 + 100 * size) std::abort();
    std::string_view rest = html;
    for (auto at = rest.find('<'); at != rest.npos; at = rest.find('<')) {
        rest.remove_prefix(at + 1);
        if (rest.starts_with("!-- raw HTML omitted -->")) continue;
        const std::string_view tag = rest.substr(rest.starts_with('/') ? 1 : 0);
        const std::string_view name = tag.substr(0, tag.find_first_of(" >"));
        if (std::find(tags.begin(), tags.end(), name) == tags.end()) std::abort();
        const std::string_view inside = rest.substr(0, rest.find('>'));
        if (inside.find("href=\"javascript:") != inside.npos) std::abort();
    }
    return 0;
}
