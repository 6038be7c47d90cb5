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
    CHECK(has(html, "<h3 id=\"readme-title\">Title</h3>"));
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
    const std::string linked =
        html_of("[see ![the plan](https://tracker.example/p.png)](https://ci.example/)");
    CHECK(has(linked, "<a href=\"https://ci.example/\">see the plan</a>"));
    CHECK(!has(linked, "<img"));
    CHECK(has(html_of("![](https://x.example/a.png)"), "<a href=\"https://x.example/a.png\">image</a>"));
}

TEST_CASE("badges leave with the links, paragraphs, headings and lists that hold nothing else") {
    const std::string badge = "[![PyPI](https://img.shields.io/pypi/v/x.svg)](https://pypi.example/x)";
    CHECK(html_of(badge + "\n" + badge + "\n\nText.\n") == "<p>Text.</p>\n");
    CHECK(html_of("# Title " + badge + "\n") == "<h3 id=\"readme-title\">Title </h3>\n");
    CHECK(html_of("# " + badge + "\n\nText.\n") == "<p>Text.</p>\n");
    CHECK(html_of("- " + badge + "\n- " + badge + "\n\nText.\n") == "<p>Text.</p>\n");
    CHECK(html_of("![build](https://ci.example/x/badge.svg)\n") == "");
    CHECK(html_of("See " + badge + " for more.\n") == "<p>See  for more.</p>\n");
    // An image in the text of another one.
    CHECK(html_of("![![in](https://a.example/badge)](https://b.example/badge)\n") == "");
    CHECK(has(html_of("![![in](https://a.example/x)](https://b.example/y)\n"), "https://b.example/y"));
}

TEST_CASE("the levels of headings have no gaps, whatever levels the author chose") {
    CHECK(html_of("# A\n### B\n###### C\n## D\n# E\n") ==
          "<h3 id=\"readme-a\">A</h3>\n<h4 id=\"readme-b\">B</h4>\n<h5 id=\"readme-c\">C</h5>\n"
          "<h4 id=\"readme-d\">D</h4>\n<h3 id=\"readme-e\">E</h3>\n");
    CHECK(html_of("#### A\n# B\n## C\n") ==
          "<h3 id=\"readme-a\">A</h3>\n<h3 id=\"readme-b\">B</h3>\n<h4 id=\"readme-c\">C</h4>\n");
    CHECK(html_of("# 1\n## 2\n### 3\n#### 4\n##### 5\n###### 6\n")
              .ends_with("<h6 id=\"readme-5\">5</h6>\n<h6 id=\"readme-6\">6</h6>\n"));
    CHECK(html_of("#\n\nText.\n") == "<p>Text.</p>\n");  // a heading without words
}

TEST_CASE("each heading has an address of its own, which the author's links lead to") {
    const std::string html = html_of(
        "# Getting *started*!\n\n[in](#Usage) [out](#nothing) [École](#%C3%89cole)\n\n## Usage\n## Usage\n"
        "## Usage 1\n## `École`\n## \"\\<b>'\n");
    for (const char* part :
         {"<h3 id=\"readme-getting-started\">", "<h4 id=\"readme-usage\">", "<h4 id=\"readme-usage-1\">",
          "<h4 id=\"readme-usage-1-1\">", "<h4 id=\"readme-école\">", "<h4 id=\"readme-b\">",
          "<a href=\"#readme-usage\">in</a>", "<a href=\"#nothing\">out</a>",
          "<a href=\"#readme-%C3%A9cole\">"})
        CHECK_MESSAGE(has(html, part), part);
    // Whoever writes "<h4>" as text gets text.
    CHECK(has(html_of("`<h3>`\n\n# A\n"), "&lt;h3&gt;</code></p>\n<h3 id=\"readme-a\">"));
    std::string many;
    for (int at = 0; at < 30'000; ++at)
        many += "# a\n";
    CHECK(html_of(many).size() < 500'000);
}

TEST_CASE("a long description has a list of its contents, of two levels") {
    const std::string text = "# Title\n## A\n### deeper\n## B\n## \"\\<C>\" `d`\n";
    CHECK(!has(html_of(text), "Contents"));
    const std::string html = html_of(text + "# End\n");
    for (const char* part :
         {"<summary>Contents</summary>", "<li><a href=\"#readme-title\">Title</a></li>",
          "<li class=\"deep\"><a href=\"#readme-b\">B</a></li>",
          "<a href=\"#readme-c-d\">&quot;&lt;C&gt;&quot; d</a>", "<li><a href=\"#readme-end\">End</a></li>"})
        CHECK_MESSAGE(has(html, part), part);
    CHECK(!has(html, "<a href=\"#readme-deeper\">"));
}

TEST_CASE("text of no type stays text, without the images and badges of reStructuredText") {
    const std::string text =
        "|build| |docs|_\n\nTitle\n=====\n\n.. image:: https://x.example/logo.png\n   :alt: logo\n   :width: "
        "5\n\n"
        "Uses ``|`` and |name| in a line.\n\n.. |build| image:: https://ci.example/badge\n    :target: "
        "https://ci.example\n"
        ".. _docs: https://docs.example\n";
    const std::string html = html_of(text, "");
    for (const char* kept :
         {"Title\n=====", "Uses ``|`` and |name| in a line.", ".. _docs: https://docs.example"})
        CHECK_MESSAGE(has(html, kept), kept);
    for (const char* gone : {"|build|", "image::", ":alt:", ":target:"})
        CHECK_MESSAGE(!has(html, gone), gone);
    CHECK(has(html_of(text, "text/plain"), "image::"));
}

TEST_CASE("another format is preformatted text, and a description that is too long is cut") {
    CHECK(html_of("Title\n=====\n<b>", "text/plain") ==
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
