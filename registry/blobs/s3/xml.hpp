// The XML of S3's answers: elements with text, as bounded values. Untrusted bytes.
//
//     <ListBucketResult xmlns="…"><IsTruncated>false</IsTruncated><Contents><Key>a&amp;b</Key></Contents></ListBucketResult>
//
// Read are elements, text, character references, CDATA; skipped are attributes, comments and the XML declaration.
// A DOCTYPE, and with it every entity of a document's own, is an error: S3 sends none.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::blobs {

inline constexpr std::size_t max_xml_depth = 16;
inline constexpr std::size_t max_xml_elements = 50'000;  // a list of 1,000 objects has some 8,000

struct XmlElement {
    std::string name;  // without a namespace's prefix
    std::string text;  // its own, without that of its children
    std::vector<XmlElement> children = {};

    // The first child of this name; null: none.
    [[nodiscard]] const XmlElement* child(std::string_view wanted) const;
    // Its text; empty: none.
    [[nodiscard]] std::string child_text(std::string_view wanted) const;
};

// The document's one root element. Error "s3.answer" (malformed).
[[nodiscard]] base::Result<XmlElement> parse_xml(std::string_view text);

}  // namespace wheelyard::blobs
