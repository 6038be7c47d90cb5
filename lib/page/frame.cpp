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
    html.add("\">\n<link rel=\"icon\" href=\"").url(frame.root + asset("wheel.svg").published_name());
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
    html.add("<a class=\"farm\" href=\"").url(frame.root.empty() ? "./" : frame.root).add("\">");
    html.text(frame.farm.empty() ? "Wheelyard" : frame.farm).add("</a>\n");
    for (const Link& link : frame.trail)
        html.add("<a href=\"")
            .url(link.url)
            .add(link.url == here ? Literal("\" aria-current=\"page\">") : Literal("\">"))
            .text(link.text)
            .add("</a>\n");
    html.add("</nav>\n</header>\n<main id=\"content\">\n").add(body).add("</main>\n");
    html.add("<footer>Wheels built and proven by <strong>Wheelyard</strong> ").text(WHEELYARD_VERSION);
    html.add("</footer>\n</body>\n</html>\n");
    return std::move(html).bytes();
}

}  // namespace wheelyard::page
