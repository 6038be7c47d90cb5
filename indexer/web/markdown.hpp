// A project's description as HTML. Markdown by libcmark-gfm with raw HTML off, headings that fit the page's
// outline and images as links, since pages load nothing from other hosts; badges leave. reStructuredText
// likewise, as Markdown (rst.hpp) and without its images. Every other format as preformatted text.
#pragma once

#include <string_view>

#include "lib/page/html.hpp"

namespace wheelyard::indexer {

// `content_type`: METADATA's Description-Content-Type; empty: not Markdown.
[[nodiscard]] page::Html render_description(std::string_view text, std::string_view content_type);

}  // namespace wheelyard::indexer
