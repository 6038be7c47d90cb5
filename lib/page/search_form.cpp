#include "lib/page/search_form.hpp"

#include "lib/page/template.hpp"

namespace wheelyard::page {

void ShownSearchForm::show(Values& to) const {
    to("folders", folders)("wanted", wanted)("has_pythons", has_pythons)("has_machines", has_machines);
    to("has_gpus", has_gpus)("has_uses", has_uses);
}

Html render_search_form(std::string_view folders, std::string_view wanted) {
    return render_search_form({.folders = std::string(folders), .wanted = std::string(wanted)});
}

Html render_search_form(const ShownSearchForm& form) {
    return render("search_form.html", form);
}

}  // namespace wheelyard::page
