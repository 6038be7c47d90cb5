// The form of search.js.
#pragma once

#include <string>
#include <string_view>

#include "lib/page/html.hpp"

namespace wheelyard::page {

class Values;

struct ShownSearchForm {
    std::string folders = {};
    std::string wanted = {};
    void show(Values& to) const;
};

// Hidden until its script shows it. `folders`: from the page to those of search.json, separated by spaces; empty: the page's
// own, which lists all projects without a question. `wanted`: the first question. The page has a list with the id "results".
[[nodiscard]] Html render_search_form(std::string_view folders, std::string_view wanted = {});

}  // namespace wheelyard::page
