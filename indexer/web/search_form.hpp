// The form of the search (search.js), on the page of an index and on the front page.
#pragma once

#include <string>

#include "lib/page/html.hpp"

namespace wheelyard::indexer {

// `folders`: from the page to the folder of each search.json to search, separated by spaces; empty: the page's own.
[[nodiscard]] page::Html render_search_form(const std::string& folders);

}  // namespace wheelyard::indexer
