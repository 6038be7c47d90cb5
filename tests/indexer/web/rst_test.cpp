// What docutils' "reStructuredText Markup Specification" says of a text, and that nothing of it becomes markup of the page.
#include "indexer/web/rst.hpp"

#include <doctest/doctest.h>

#include "indexer/web/limits.hpp"
#include "indexer/web/markdown.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

namespace {

std::string rst_html(std::string_view text) {
    return render_description(text, "text/x-rst; charset=UTF-8").bytes();
}
bool rst_has(const std::string& html, std::string_view part) {
    return html.find(part) != std::string::npos;
}

struct RstRow {
    std::string_view text;
    std::string_view shown;
};

}  // namespace

TEST_CASE("headings have the level that their underline had first, and overlines are another style") {
    const std::string html = rst_html("====\nDocs\n====\n\nOne\n===\n\nTwo\n---\n\nThree\n=====\n");
    for (const char* part : {"<h3 id=\"readme-docs\">Docs</h3>", "<h4 id=\"readme-one\">One</h4>",
                             "<h5 id=\"readme-two\">Two</h5>", "<h4 id=\"readme-three\">Three</h4>"})
        CHECK_MESSAGE(rst_has(html, part), part);
    CHECK(rst_has(rst_html("a\n\n----\n\nb\n"), "<hr />"));
}

TEST_CASE("text is marked where the specification lets a mark begin and end") {
    for (const RstRow& row : std::initializer_list<RstRow>{
             {"*emphasis* and **strong**", "<em>emphasis</em> and <strong>strong</strong>"},
             {"``code *is* <b>``", "<code>code *is* &lt;b&gt;</code>"},
             {"``a `tick` b``", "<code>a `tick` b</code>"},
             {"2*3 and 4*5, a * b, *args", "2*3 and 4*5, a * b, *args"},
             {"snake_case_name and __init__", "snake_case_name and __init__"},
             {"\\*not\\* a\\ b", "*not* ab"},
             {":func:`os.path` of :mod:`os`", "<code>os.path</code> of <code>os</code>"},
             {"`title`", "<em>title</em>"},
             {"`site <https://x.example/a>`_!", "<a href=\"https://x.example/a\">site</a>!"},
             {"A `two\nlines <https://x.example/\nb>`__", "<a href=\"https://x.example/b\">two lines</a>"},
             {"Docs_ are `at home`_.\n\n.. _docs: https://d.example\n.. _At home:\n   https://h.example",
              "<a href=\"https://d.example\">Docs</a> are <a href=\"https://h.example\">at home</a>."},
             {"`here`__\n\n__ https://h.example", "<a href=\"https://h.example\">here</a>"},
             {"`MPI wheels <mpi-wheels_>`_\n\n.. _mpi-wheels: https://m.example",
              "<a href=\"https://m.example\">MPI wheels</a>"},
             {"`a <Two Words_>`_, b_ and `c`__\n\n.. _two words: https://t.example\n.. _b: `Two words`_\n__ "
              "b_",
              "<a href=\"https://t.example\">a</a>, <a href=\"https://t.example\">b</a> and "
              "<a href=\"https://t.example\">c</a>"},
             {"`a <https://x.example/b_>`_", "<a href=\"https://x.example/b_\">a</a>"},
             {"`a <nothing_>`_ and `b <c_>`_\n\n.. _c: d_\n.. _d: c_", "<p>a and b</p>"},
             {"lost_ and `lost too`_", "lost_ and lost too"},
             {"|name| is |gone|\n\n.. |name| replace:: Wheelyard\n.. |gone| image:: x.png",
              "<p>Wheelyard is</p>"},
             {"https://x.example/a_b_c.",
              "<a href=\"https://x.example/a_b_c\">https://x.example/a_b_c</a>."}})
        CHECK_MESSAGE(rst_has(rst_html(row.text), row.shown), rst_html(row.text));
}

TEST_CASE("lists, definitions, quotes and fields keep their nesting") {
    const std::string list = rst_html("* one\n  goes on\n\n  - deep\n\n* two\n\n3. three\n#. four\n");
    for (const char* part : {"one goes on", "<li>deep</li>", "<ol start=\"3\">"})
        CHECK_MESSAGE(rst_has(list, part), list);
    CHECK(rst_has(rst_html("term\n    What it *is*.\n"), "<blockquote>\n<p>What it <em>is</em>.</p>"));
    CHECK(rst_has(rst_html("Text.\n\n    Quoted.\n"), "<blockquote>\n<p>Quoted.</p>"));
    CHECK(rst_has(rst_html(":Author: A *B*\n"), "<li><strong>Author:</strong> A <em>B</em></li>"));
}

TEST_CASE("literal blocks, code and tables stay as they were written") {
    CHECK(rst_html("Use::\n\n    a\n      <b>\n\n    c\n\nEnd.\n") ==
          "<p>Use:</p>\n<pre><code>a\n  &lt;b&gt;\n\nc\n</code></pre>\n<p>End.</p>\n");
    CHECK(rst_html("::\n\n  x\n") == "<pre><code>x\n</code></pre>\n");
    CHECK(rst_html(".. code-block:: python\n   :linenos:\n\n   print(\"```\")\n") ==
          "<pre><code>print(&quot;```&quot;)\n</code></pre>\n");
    CHECK(rst_html(">>> 1\n1\n") == "<pre><code>&gt;&gt;&gt; 1\n1\n</code></pre>\n");
    const std::string table = "=====  ==\na      b\n=====  ==\n1      2\n\n3      4\n=====  ==\n";
    CHECK(rst_html(table + "\nEnd.\n") == "<pre><code>" + table + "</code></pre>\n<p>End.</p>\n");
}

TEST_CASE("notes are quotes with their name; images, comments and what would load something leave") {
    CHECK(rst_has(rst_html(".. note:: Take\n   care.\n"), "<p><strong>note</strong></p>\n<p>Take care.</p>"));
    for (const char* text :
         {".. image:: https://x.example/a.png\n   :target: https://x.example\n",
          ".. a comment\n   of two lines\n", ".. include:: /etc/passwd\n",
          ".. raw:: html\n\n   <script>alert(1)</script>\n", ".. contents::\n", "..\n   x\n"})
        CHECK_MESSAGE(rst_html(text).empty(), text);
}

TEST_CASE("nothing of the text becomes markup of the page, and no link runs a script") {
    const std::string html = rst_html(
        "<script>alert(1)</script> [x](javascript:alert(1)) ![i](https://x.example/i.png) # no\n\n"
        "`y <javascript:alert(1)>`_ `z <x>y>`_ j_\n\n<div onclick=x>\n\n* <img src=x>\n\n"
        ".. _j: javascript:alert(1)\n");
    for (const char* unsafe : {"<script", "<img", "<div", "href=\"javascript", "<h"})
        CHECK_MESSAGE(!rst_has(html, unsafe), html);
    CHECK(rst_has(html, "&lt;script&gt;alert(1)&lt;/script&gt; [x](javascript:alert(1))"));
}

TEST_CASE("hostile text is bounded in depth, size and time") {
    const auto filled = [](const std::string& part) {
        std::string text;
        while (text.size() + part.size() <= max_description_bytes)
            text += part;
        return text;
    };
    std::string deep;
    for (std::size_t depth = 0; depth < 400; ++depth)
        deep.append(depth, ' ').append("x\n");
    std::string bullets;
    for (std::size_t count = 0; count < 20'000; ++count)
        bullets += "- ";
    for (const std::string& text :
         {deep, bullets + "x", filled("`a "), filled("*a "), filled(":a:"), filled("|a "), filled("`"),
          filled("::\n\n "), filled(".. a::\n"), filled(":a: b\n"), filled("\t\n"), filled("=\n"),
          filled("== ==\n"), filled(".. _a: b\n")}) {
        CAPTURE(text.substr(0, 10));
        CHECK(rst_html(text).size() < 64 * max_description_bytes);
    }
}
