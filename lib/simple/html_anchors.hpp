// The anchors of an HTML page, and nothing else of it: a tolerant scanner in linear time, no tree.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wheelyard::simple {

struct HtmlAnchor {
    std::vector<std::pair<std::string, std::string>>
        attributes;    // names in lower case, values with entities decoded
    std::string text;  // up to the next tag, entities decoded, trimmed
    // The first attribute of that name (HTML keeps the first), or nullptr.
    [[nodiscard]] const std::string* attribute(std::string_view name) const;
};

struct HtmlAnchors {
    std::vector<HtmlAnchor> anchors;
    std::string base_href;           // of the first <base href>, else empty
    std::string repository_version;  // of <meta name="pypi:repository-version"> (PEP 629), else empty
    bool is_cut = false;             // the page had more than `max_anchors`
};

[[nodiscard]] HtmlAnchors scan_anchors(std::string_view html, std::size_t max_anchors);

// Character references as index pages use them: amp, lt, gt, quot, apos, and numbers. Others stay as they
// are.
[[nodiscard]] std::string decode_entities(std::string_view text);

}  // namespace wheelyard::simple
