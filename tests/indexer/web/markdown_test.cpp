#include "indexer/web/markdown.hpp"

#include <doctest/doctest.h>

#include "indexer/web/limits.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

std::string html_of(std::string_view text,
                    std::string_view type = "text/markdown; charset=UTF-8; variant=GFM") {
    return render_description(text, type).bytes();
}
bool has(const std::string& html, std::string_view part) {
    return html.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("Markdown is rendered below the page's own headings, with tables and code") {
    const std::string html = html_of("# Title\n\nSome *text*, `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n");
    CHECK(has(html, "<h3>Title</h3>"));
    CHECK(has(html, "<em>text</em>"));
    CHECK(has(html, "<td>1</td>"));
}

TEST_CASE("raw HTML and links that run scripts are not rendered") {
    const std::string html = html_of(
        "<script>alert(1)</script>\n\na <img src=x onerror=alert(1)> b\n\n[x](javascript:alert(1)) "
        "[y](JAVASCRIPT:x)\n\n"
        "[z](data:text/html;base64,PHNjcmlwdD4=) [v](vbscript:x) <a href=\"javascript:x\">q</a>\n\n"
        "[title](https://example.org \"\\\" onmouseover=alert(1) \")\n\n![i](javascript:alert(1))\n");
    for (const char* unsafe : {"<script", "<img", "onerror=alert(1)>",
                               "javascript:", "JAVASCRIPT:", "data:text", "vbscript:", "\" onmouseover"})
        CHECK_MESSAGE(!has(html, unsafe), unsafe);
}

TEST_CASE("an image is a link, since a page loads nothing from other hosts") {
    const std::string alone = html_of("![the logo](https://tracker.example/logo.png)");
    CHECK(has(alone, "<a href=\"https://tracker.example/logo.png\">the logo</a>"));
    const std::string linked = html_of("[![badge](https://tracker.example/badge.svg)](https://ci.example/)");
    CHECK(has(linked, "<a href=\"https://ci.example/\">badge</a>"));
    CHECK(!has(linked, "<img"));
}

TEST_CASE("another format is preformatted text, and a description that is too long is cut") {
    CHECK(html_of("Title\n=====\n<b>", "text/x-rst") ==
          "<pre class=\"plain\">Title\n=====\n&lt;b&gt;</pre>\n");
    CHECK(html_of("plain", "") == "<pre class=\"plain\">plain</pre>\n");
    const std::string html = html_of(std::string(max_description_bytes + 1, 'x'), "text/plain");
    CHECK(html.size() < max_description_bytes + 200);
    CHECK(has(html, "The description is longer"));
}

TEST_CASE("deep nesting and invalid UTF-8 neither fail nor grow without limit") {
    const std::string quotes = html_of(std::string(20'000, '>').append("x"));
    CHECK(quotes.size() < 2'000'000);
    CHECK(!html_of(std::string(20'000, '[')).empty());
    CHECK(!has(html_of("caf\xE9 **x**"), "\xE9"));
}
