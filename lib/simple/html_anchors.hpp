// Extracts the anchors of an HTML page: a tolerant scanner in linear time that builds no tree.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wheelyard::simple {

struct HtmlAnchor {
    std::vector<std::pair<std::string, std::string>> attributes;  // lower-case names, decoded values
    std::string text;                                             // up to the next tag; decoded and trimmed
    // The first attribute with the name (as in HTML), or nullptr.
    [[nodiscard]] const std::string* attribute(std::string_view name) const;
};

struct HtmlAnchors {
    std::vector<HtmlAnchor> anchors;
    std::string base_href;  // of the first <base href>; empty if there is none
    std::string
        repository_version;  // of <meta name="pypi:repository-version"> (PEP 629); empty if there is none
    bool is_cut = false;  // the page has more than `max_anchors`, or than six attributes for each of so many
};

[[nodiscard]] HtmlAnchors scan_anchors(std::string_view html, std::size_t max_anchors);

// Decodes the character references that index pages use: amp, lt, gt, quot, apos and numeric ones. Others
// stay unchanged.
[[nodiscard]] std::string decode_entities(std::string_view text);

}  // namespace wheelyard::simple
