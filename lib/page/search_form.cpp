#include "lib/page/search_form.hpp"

#include "lib/page/template.hpp"

namespace wheelyard::page {

void ShownSearchForm::show(Values& to) const {
    to("folders", folders)("wanted", wanted);
}

Html render_search_form(std::string_view folders, std::string_view wanted) {
    return render("search_form.html", ShownSearchForm{std::string(folders), std::string(wanted)});
}

}  // namespace wheelyard::page
