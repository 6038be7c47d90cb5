// Small HTML pages; every variable part is escaped.
#include "registry/http/front_pages.hpp"

#include <utility>
#include <vector>

#include "lib/base/encoding.hpp"
#include "lib/simple/client_config.hpp"

namespace wheelyard::http {

namespace {

// A complete page around `body`, which must be HTML.
std::string html_page(std::string_view title, std::string_view body) {
    std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\"><title>";
    page.append(base::escape_html(title))
        .append("</title></head>\n<body>\n<h1>")
        .append(base::escape_html(title));
    page.append("</h1>\n").append(body).append("</body>\n</html>\n");
    return page;
}

void append_details(std::string& body, std::string_view summary, std::string_view text) {
    body.append("<details><summary>").append(base::escape_html(summary)).append("</summary>\n<pre>");
    body.append(base::escape_html(text)).append("</pre></details>\n");
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
    const simple::ClientSource source{std::string(index),
                                      std::string(base_url) + "/" + base::encode_percent(index) + "/simple/"};
    std::string body = "<pre>pip install --index-url ";
    body.append(base::escape_html(source.place))
        .append(
            " PACKAGE</pre>\n<p><a href=\"simple/\">All packages</a></p>\n<h2>Permanent "
            "configuration</h2>\n");
    for (const auto& file : simple::client_files()) {
        append_details(
            body, std::string(file.word) + ": " + std::string(file.where) + ", " + std::string(file.hint),
            simple::render_client_config(file.kind, source));
    }
    const std::vector<simple::NodeType> nodes{{source, {}, {}}};
    for (const auto& [kind, words] :
         {std::pair(simple::ModuleKind::lmod, "Lmod: a modulefile, "),
          std::pair(simple::ModuleKind::tcl, "Environment Modules: a modulefile, ")}) {
        append_details(
            body,
            std::string(words) +
                "for the folder that `wheelyard-indexer client-config --to` writes; it can also distinguish "
                "node types",
            simple::render_modulefile(kind, index, "/path/to/that/folder", nodes));
    }
    return html_page(index, body);
}

}  // namespace wheelyard::http
