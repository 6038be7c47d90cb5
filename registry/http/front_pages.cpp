// Small HTML pages; every variable part is escaped.
#include "registry/http/front_pages.hpp"

#include <utility>

#include "lib/base/text/encoding.hpp"
#include "lib/io/json.hpp"
#include "lib/page/frame.hpp"
#include "lib/page/search_form.hpp"
#include "lib/page/template.hpp"
#include "lib/simple/client_config.hpp"

namespace wheelyard::http {

namespace {

page::Frame server_frame(const page::Farm& farm, std::string_view root, std::string_view title) {
    page::Frame frame;
    frame.title = title;
    frame.root = root;
    frame.farm = farm;
    frame.is_of_server = true;
    return frame;
}

// A complete page around `body`, in which every variable part is escaped already.
std::string html_page(const page::Farm& farm, std::string_view root, std::string_view title, std::string body,
                      std::vector<page::Link> trail = {}) {
    page::Html html("<h1>");
    html.text(title).add("</h1>\n").add(page::SafeMarkup::adopt(std::move(body)));
    page::Frame frame = server_frame(farm, root, title);
    frame.trail = std::move(trail);
    return page::render_page(frame, html);
}

void append_details(std::string& body, std::string_view summary, std::string_view text) {
    body.append("<details><summary>").append(base::escape_html(summary)).append("</summary>\n<pre>");
    body.append(base::escape_html(text)).append("</pre></details>\n");
}

std::string simple_url(std::string_view index, std::string_view base_url) {
    return std::string(base_url) + "/" + base::encode_percent(index) + "/simple/";
}

}  // namespace

std::string render_front_page(const page::Farm& farm, const std::vector<IndexEntry>& indexes) {
    std::string list = "<ul>\n";
    for (const IndexEntry& index : indexes) {
        if (!index.is_advertised) continue;
        list.append("<li><a href=\"").append(base::encode_percent(index.name)).append("/\">");
        list.append(base::escape_html(index.name)).append("</a>");
        if (!index.title.empty()) list.append(": ").append(base::escape_html(index.title));
        list.append("</li>\n");
    }
    return html_page(farm, "", "Indexes", list + "</ul>\n");
}

std::string render_index_list(const std::vector<IndexEntry>& indexes, std::string_view base_url) {
    io::Json list = io::Json::array();
    for (const IndexEntry& index : indexes) {
        if (!index.is_advertised) continue;
        io::Json entry = io::Json::object(
            {{"name", index.name}, {"title", index.title}, {"url", simple_url(index.name, base_url)}});
        if (index.is_private) entry.set("read", "token");
        list.push(std::move(entry));
    }
    return io::Json::object({{"format", "wheelyard.indexes/1"}, {"indexes", std::move(list)}}).render() +
           "\n";
}

std::string render_problem_page(const page::Farm& farm, std::string_view root, const wire::Problem& problem) {
    page::Html body("<p class=\"lead\">");
    body.prose(problem.detail).add("</p>\n");
    if (!problem.value.empty()) body.add("<pre>").text(problem.value).add("</pre>\n");
    if (!problem.advice.empty())
        body.add("<p class=\"note\"><strong>What to do:</strong> ").prose(problem.advice).add("</p>\n");
    body.add("<p><a href=\"").url(root.empty() ? "./" : root).add("\">All indexes</a></p>\n");
    return html_page(farm, root, std::to_string(problem.status) + " " + problem.title,
                     std::move(body).bytes());
}

std::string render_operators_page(const page::Farm& farm, std::string_view root) {
    page::Frame frame = server_frame(farm, root, "For operators");
    frame.scripts = {"common.js", "operate.js"};
    frame.data_root = root;
    return page::render_page(frame, page::named_template("operators.html").render({}));
}

std::string render_missing_project_page(const page::Farm& farm, std::string_view root, std::string_view index,
                                        std::string_view project) {
    const std::string folder = std::string(root) + base::encode_percent(index) + "/";
    page::Html html("<h1>404 Not found</h1>\n<p class=\"lead\">The index <strong>");
    html.text(index).add("</strong> has no wheel of <strong>").text(project).add("</strong>.</p>\n<ul>\n");
    html.add("<li><a href=\"").url(folder + "builds/?package=" + base::encode_percent(project));
    html.add("\">Ask for a wheel</a></li>\n<li><a href=\"").url(folder + "builds/");
    html.add("\">Builds: what runs, what waits, and why builds have failed</a></li>\n<li><a href=\"");
    html.url(folder + "project/").add("\">All projects of this index</a></li>\n</ul>\n");
    html.add("<section hidden>\n<h2>At the sites</h2>\n<ul id=\"known\" class=\"builds\" data-project=\"");
    html.text(project).add("\"></ul>\n</section>\n<h2>Search</h2>\n");
    html.add(page::render_search_form(folder + "project/", project));
    html.add("<ul id=\"results\" class=\"grid\"></ul>\n");
    page::Frame frame = server_frame(farm, root, "404 Not found");
    frame.trail = {{folder + "project/", std::string(index)}, {folder + "builds/", "Builds"}};
    frame.scripts = {"common.js", "live.js", "search.js"};
    frame.data_root = folder;
    return page::render_page(frame, html);
}

std::string render_index_page(const page::Farm& farm, const IndexEntry& index, std::string_view base_url) {
    const simple::ClientSource source{index.name, simple_url(index.name, base_url), index.is_private};
    std::string body =
        index.title.empty() ? "" : "<p class=\"lead\">" + base::escape_html(index.title) + "</p>\n";
    body += "<pre>pip install --index-url ";
    body.append(base::escape_html(source.place + simple::pip_trust_option(source.place)))
        .append(" PACKAGE</pre>\n<ul>\n");
    if (index.has_pages)
        body +=
            "<li><a href=\"project/\">Search</a></li>\n"
            "<li><a href=\"builds/\">Builds, and the form that asks for a wheel</a></li>\n";
    body += "<li><a href=\"simple/\">All packages</a></li>\n</ul>\n<h2>Permanent configuration</h2>\n";
    for (const auto& file : simple::client_files()) {
        append_details(
            body, std::string(file.word) + ": " + std::string(file.where) + ", " + std::string(file.hint),
            simple::render_client_config(file.kind, source));
    }
    const std::vector<simple::NodeType> nodes{{source, {}, {}}};
    for (const auto& [kind, words] : {std::pair(simple::ModuleKind::lmod, "Lmod"),
                                      std::pair(simple::ModuleKind::tcl, "Environment Modules")}) {
        append_details(
            body,
            std::string(words) + ": a modulefile; wheelyard-indexer client-config --to FOLDER --node " +
                index.name + "=" + source.place + " writes it with its folder, also for several node types",
            simple::render_modulefile(kind, index.name, "/path/to/that/folder", nodes));
    }
    std::vector<page::Link> trail;
    if (index.has_pages) trail = {{"project/", index.name}, {"builds/", "Builds"}};
    return html_page(farm, "../", index.name, body, std::move(trail));
}

}  // namespace wheelyard::http
