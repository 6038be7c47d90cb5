// reStructuredText as READMEs use it, as Markdown: headings, lists, definitions, quotes, literal blocks,
// notes, links and marked text (docutils' "reStructuredText Markup Specification"). Everything else is shown
// as it was written; nothing is included or run. Pure.
#pragma once

#include <string>
#include <string_view>

namespace wheelyard::indexer {

// What is text in `text` is text in the Markdown, too. A few times as long at most.
[[nodiscard]] std::string markdown_of_rst(std::string_view text);

}  // namespace wheelyard::indexer
