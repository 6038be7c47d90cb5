// The anchor scanner: results for valid and invalid HTML, and its linear time.
#include "lib/simple/html_anchors.hpp"

#include <doctest/doctest.h>

namespace wheelyard::simple {
namespace {

HtmlAnchors scan(const std::string& html) {
    return scan_anchors(html, 1000);
}

std::string href(const HtmlAnchor& anchor) {
    const auto* value = anchor.attribute("href");
    return value == nullptr ? "(none)" : *value;
}

}  // namespace

TEST_CASE("anchors are found in every notation") {
    for (const char* html : {"<a href=\"x\">t</a>", "<A HREF='x'>t</A>", "<a href=x>t</a>",
                             "<a\n\thref = \"x\"\n>t</a>", "<a href=\"x\"/>t", "<a class=b href=x data-y>t",
                             "<p><b>1 < 2</b><a href=x>t", "<a href=x>  t \n</a>", "<a href=x href=y>t"}) {
        const auto found = scan(html);
        REQUIRE_MESSAGE(found.anchors.size() == 1, html);
        CHECK_MESSAGE(href(found.anchors[0]) == "x", html);
        CHECK_MESSAGE(found.anchors[0].text == "t", html);
    }
}

TEST_CASE("everything except anchors is skipped") {
    for (const char* html : {"",
                             "text",
                             "<abbr href=x>",
                             "<!-- <a href=x> -->",
                             "<script>'<a href=x>'</script>",
                             "<style><a href=x></STYLE>",
                             "<title><a href=x></title>",
                             "</a href=x>",
                             "<!DOCTYPE html>",
                             "<?xml <a href=x?>",
                             "< a href=x>",
                             "<a href=x",
                             "<a href=\"x>",
                             "<!-- <a href=x>",
                             "<script><a href=x>",
                             "<",
                             "<a",
                             "<a href",
                             "<a href=",
                             "<!"}) {
        CHECK_MESSAGE(scan(html).anchors.empty(), html);
    }
    CHECK(scan("<!-- > --><a href=x>").anchors.size() == 1);
    CHECK(scan("<script></scripty><a href=y></script><a href=x>").anchors.size() == 1);
}

TEST_CASE("character references are decoded in values and texts") {
    CHECK(decode_entities("&gt;=3.8,&lt;4 &amp; &quot;x&apos;") == ">=3.8,<4 & \"x'");
    CHECK(decode_entities("&#62;&#x3E;&#X3e;") == ">>>");
    CHECK(decode_entities("&#x7F;&#x80;") == "\x7F\xC2\x80");
    CHECK(decode_entities("&#x7FF;&#x800;") == "\xDF\xBF\xE0\xA0\x80");
    CHECK(decode_entities("&#xFFFF;&#x10000;") == "\xEF\xBF\xBF\xF0\x90\x80\x80");
    CHECK(decode_entities("&#233;&#x20AC;&#x1F600;") == "\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80");
    CHECK(decode_entities("&#0;&#xD800;&#x110000;&#99999999999999999999;") ==
          "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    CHECK(decode_entities("a&b &amp &; &#; &#x; &#12 &nbsp; &amp;amp;") ==
          "a&b &amp &; &#; &#x; &#12 &nbsp; &amp;");
    CHECK(href(scan("<a href='a?b&amp;c' title='&gt;'>").anchors[0]) == "a?b&c");
}

TEST_CASE("base and repository version are read; the first of duplicate attributes wins") {
    const auto found = scan(
        "<meta name=\"pypi:repository-version\" content=\"1.1\"><base target=x><base href=\"/f/\"><base "
        "href=\"/g/\"><a href=x>");
    CHECK(found.base_href == "/f/");
    CHECK(found.repository_version == "1.1");
    CHECK(scan("<meta name=viewport content=9>").repository_version.empty());
}

TEST_CASE("the number of anchors is bounded") {
    const auto found = scan_anchors("<a href=1><a href=2><a href=3>", 2);
    CHECK(found.anchors.size() == 2);
    CHECK(found.is_cut);
    CHECK_FALSE(scan_anchors("<a href=1 b c d e f g h i j k l>", 2).is_cut);
    CHECK(scan_anchors("<a href=1 b c d e f g h i j k l m>", 2).is_cut);
}

TEST_CASE("hostile pages take linear time") {
    // Each would take hours if a search started again at every position.
    const std::size_t size = 500'000;
    for (const std::string piece :
         {"<", "<!--", "<a ", "<a href='", "<script>", "</", "&#1", "&", "<a x=\"", "<!-", "<a/"}) {
        std::string html;
        while (html.size() < size)
            html += piece;
        CHECK(scan_anchors(html, 10).anchors.size() <= 10);
        CHECK(decode_entities(html).size() <= html.size());
    }
}

}  // namespace wheelyard::simple
