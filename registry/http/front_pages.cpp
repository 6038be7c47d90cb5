// HTML of a few lines; everything that varies is escaped.
#include "registry/http/front_pages.hpp"

#include "lib/base/encoding.hpp"

namespace wheelyard::http {

namespace {

// "<!DOCTYPE html>…" around `body`, which is HTML already.
std::string html_page(std::string_view title, std::string_view body) {
    std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>";
    page.append(base::escape_html(title))
        .append("</title></head>\n<body>\n<h1>")
        .append(base::escape_html(title));
    page.append("</h1>\n").append(body).append("</body>\n</html>\n");
    return page;
}

}  // namespace

std::string render_front_page(const std::set<std::string, std::less<>>& indexes) {
    std::string list = "<ul>\n";
    for (const std::string& index : indexes) {
        list.append("<li><a href=\"/").append(base::encode_percent(index)).append("/\">");
        list.append(base::escape_html(index)).append("</a></li>\n");
    }
    return html_page("Indexes", list + "</ul>\n");
}

std::string render_index_page(std::string_view index, std::string_view base_url) {
    std::string url(base_url);
    url.append("/").append(base::encode_percent(index)).append("/simple/");
    std::string body = "<pre>pip install --index-url ";
    body.append(base::escape_html(url))
        .append(" PACKAGE</pre>\n<p><a href=\"simple/\">All packages</a></p>\n");
    return html_page(index, body);
}

}  // namespace wheelyard::http
