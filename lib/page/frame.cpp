#include "lib/page/frame.hpp"

#include <utility>

#include "lib/page/assets.hpp"

namespace wheelyard::page {

namespace {

constexpr Literal head_start =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"same-origin\">\n";

constexpr std::string_view here = "./";

void add_head(Html& html, const Frame& frame) {
    html.add(head_start).add("<meta http-equiv=\"Content-Security-Policy\" content=\"").text(content_policy);
    html.add("\">\n<title>").text(frame.title).add("</title>\n<meta name=\"description\" content=\"");
    html.text(frame.description.empty() ? frame.title : frame.description);
    html.add("\">\n<link rel=\"stylesheet\" href=\"").url(frame.root + asset("style.css").published_name());
    html.add("\">\n");
    if (!frame.farm.style.empty())
        html.add("<link rel=\"stylesheet\" href=\"").url(frame.root + frame.farm.style).add("\">\n");
    html.add("<link rel=\"icon\" href=\"")
        .url(frame.root + (frame.farm.logo.empty() ? asset("wheel.svg").published_name() : frame.farm.logo));
    html.add("\">\n");
    if (!frame.feed.empty())
        html.add("<link rel=\"alternate\" type=\"application/atom+xml\" href=\"")
            .url(frame.feed)
            .add("\">\n");
    for (const std::string& script : frame.scripts)
        html.add("<script src=\"")
            .url(frame.root + asset(script).published_name())
            .add("\" defer></script>\n");
    html.add("</head>\n");
}

}  // namespace

std::string render_page(const Frame& frame, const Html& body) {
    Html html;
    add_head(html, frame);
    html.add("<body");
    if (!frame.data_root.empty()) html.add(" data-root=\"").url(frame.data_root).add("\"");
    html.add(
        ">\n<a class=\"skip\" href=\"#content\">Skip to the content</a>\n<header>\n<nav "
        "aria-label=\"Pages\">\n");
    html.add(frame.farm.logo.empty() ? Literal("<a class=\"farm\" href=\"")
                                     : Literal("<a class=\"farm own\" href=\""));
    html.url(frame.root.empty() ? "./" : frame.root).add("\">");
    if (!frame.farm.logo.empty())
        html.add("<img alt=\"\" src=\"").url(frame.root + frame.farm.logo).add("\">");
    html.text(frame.farm.name.empty() ? "Wheelyard" : frame.farm.name).add("</a>\n");
    for (const Link& link : frame.trail)
        html.add("<a href=\"")
            .url(link.url)
            .add(link.url == here ? Literal("\" aria-current=\"page\">") : Literal("\">"))
            .text(link.text)
            .add("</a>\n");
    html.add("</nav>\n</header>\n<main id=\"content\">\n").add(body).add("</main>\n");
    html.add("<footer><span>Wheels built and proven by <strong>Wheelyard</strong> ")
        .text(WHEELYARD_VERSION)
        .add("</span>");
    // Only a server has the page for operators: its own pages lead there, the front page of a tree if its script finds it.
    if (frame.is_of_server)
        html.add("\n<a href=\"").url(frame.root + "api/v1/").add("\">For operators</a>");
    else if (frame.root.empty())
        html.add("\n<a id=\"operators\" href=\"api/v1/\" hidden>For operators</a>");
    html.add("</footer>\n</body>\n</html>\n");
    return std::move(html).bytes();
}

}  // namespace wheelyard::page
