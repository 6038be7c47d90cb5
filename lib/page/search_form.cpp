#include "lib/page/search_form.hpp"

namespace wheelyard::page {

namespace {

constexpr Literal rest_of_form =
    "\">\n<label class=\"wide\">Name, summary or keyword <input type=\"search\" name=\"q\" "
    "autocomplete=\"off\"></label>\n<button type=\"submit\">Search</button>\n"
    "<label hidden>Index <select name=\"index\"><option value=\"\">any</option></select></label>\n"
    "<label hidden>Python <select name=\"python\"><option value=\"\">any</option></select></label>\n"
    "<label hidden>Machine <select name=\"machine\"><option value=\"\">any</option></select></label>\n"
    "<label hidden>GPU <select name=\"gpu\"><option value=\"\">any</option></select></label>\n"
    "<label hidden>Uses <select name=\"uses\"><option value=\"\">anything</option></select></label>\n"
    "</form>\n<p id=\"count\" class=\"quiet\" role=\"status\"></p>\n";

}  // namespace

Html render_search_form(std::string_view folders, std::string_view wanted) {
    Html html("<form id=\"search\" class=\"search\" role=\"search\" hidden data-folders=\"");
    html.text(folders);
    if (!wanted.empty()) html.add("\" data-wanted=\"").text(wanted);
    return html.add(rest_of_form);
}

}  // namespace wheelyard::page
