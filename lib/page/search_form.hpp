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
    // Which filters have values: their room is there before the script fills them.
    bool has_pythons = false;
    bool has_machines = false;
    bool has_gpus = false;
    bool has_uses = false;
    void show(Values& to) const;
};

// Hidden until its script shows it. `folders`: from the page to those of search.json, separated by spaces; empty: the page's
// own, which lists all projects without a question. `wanted`: the first question. The page has a list with the id "results".
[[nodiscard]] Html render_search_form(std::string_view folders, std::string_view wanted = {});
[[nodiscard]] Html render_search_form(const ShownSearchForm& form);

}  // namespace wheelyard::page
