#include "indexer/pages/simple_html.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/url.hpp"
#include "lib/simple/page.hpp"
#include "tests/indexer/sample_view.hpp"
#include "tests/support/golden.hpp"

using namespace wheelyard;
using namespace wheelyard::indexer;

TEST_CASE("a project page in HTML matches the golden file byte for byte") {
    CHECK(test_support::golden_difference("indexer/project.html", render_project_html(sample_view())) == "");
}

TEST_CASE("a root page in HTML matches the golden file byte for byte") {
    CHECK(test_support::golden_difference("indexer/root.html",
                                          render_root_html({"flash-attn", "six", "torch"})) == "");
}

TEST_CASE("empty pages are complete pages") {
    CHECK(test_support::golden_difference("indexer/empty_project.html", render_project_html({"six", {}})) ==
          "");
    CHECK(test_support::golden_difference("indexer/empty_root.html", render_root_html({})) == "");
}

TEST_CASE("the variants of a version are a link after the files, with their hash (PEP 825)") {
    ProjectView view = sample_view();
    const std::string before = render_project_html(view);
    view.variants = {{{.filename = "sample-1.10.0+cu126-variants.json",
                       .upload_time = 1,
                       .size_bytes = 2,
                       .sha256 = std::string(64, '7')}}};
    const std::string sha256(64, '7');
    const std::string link =
        "<a href=\"" + sha256 + "/sample-1.10.0%2Bcu126-variants.json#sha256=" + sha256 +
        "\" data-upload-time=\"1970-01-01T00:00:00.000001Z\">sample-1.10.0+cu126-variants.json</a><br>\n";
    std::string expected = before;
    CHECK(render_project_html(view) == expected.insert(before.find("</body>"), link));
}

TEST_CASE("no value can escape from its attribute or text") {
    ProjectView view = sample_view();
    view.files.resize(1);
    view.files[0].yanked = true;
    view.files[0].yanked_reason = "\"><script>alert('x')</script>&amp;";
    view.files[0].requires_python = ">=3.8,<\"4'";
    const std::string html = render_project_html(view);
    CHECK(html.find("<script") == std::string::npos);
    CHECK(html.find("data-requires-python=\"&gt;=3.8,&lt;&quot;4&#x27;\"") +
              html.find("data-requires-python=\"&gt;=3.8,&lt;&quot;4&#39;\"") !=
          2 * std::string::npos);

    const auto page = simple::parse_project_html(html, *base::parse_url("http://host/main/simple/sample/"));
    REQUIRE(page);
    REQUIRE(page->files.size() == 1);
    CHECK(page->files[0].yanked_reason == view.files[0].yanked_reason);
    CHECK(page->files[0].requires_python == view.files[0].requires_python);
}

TEST_CASE("the page of all files is read as it was written, whatever a file says of itself") {
    ProjectView view = sample_view();
    view.files[0].yanked = true;
    view.files[0].yanked_reason = "<h2>six</h2>\n</body>";
    const FlatLinks links{{"a", render_flat_links({"a", view.files})}, {"sample", render_flat_links(view)}};
    const std::string html = render_flat_html(links);
    const auto read = parse_flat_html(html);
    REQUIRE(read);
    CHECK(*read == links);
    CHECK(parse_flat_html(render_flat_html({})) == FlatLinks{});
    CHECK(render_flat_links({"empty", {}}).empty());
    const auto page = simple::parse_project_html(html, *base::parse_url("http://host/main/find-links/"));
    REQUIRE(page);
    REQUIRE(page->files.size() == 2 * view.files.size());
    CHECK(page->files[0].url.starts_with("http://host/main/files/"));
    for (const std::string& wrong : {std::string(), html.substr(0, html.size() - 1), html.substr(1),
                                     render_flat_html_without_links(), render_root_html({"six"})})
        CHECK_MESSAGE(!parse_flat_html(wrong), wrong);
}

TEST_CASE("a yank without a reason is an empty attribute; without a yank there is none") {
    ProjectView view = sample_view();
    view.files.resize(1);
    view.files[0].yanked = true;
    view.files[0].yanked_reason.clear();
    CHECK(render_project_html(view).find("data-yanked=\"\"") != std::string::npos);
    view.files[0].yanked = false;
    CHECK(render_project_html(view).find("data-yanked") == std::string::npos);
}

TEST_CASE("core metadata also has its old name, except where Debian 12's pip would fail") {
    ProjectView view = sample_view();
    view.files.resize(1);
    const auto has_old_name = [&](const std::string& metadata_name) {
        view.files[0].metadata_name = metadata_name;
        const std::string html = render_project_html(view);
        CHECK(html.find("data-core-metadata=\"sha256=" + view.files[0].metadata_sha256) != std::string::npos);
        return html.find("data-dist-info-metadata=\"sha256=" + view.files[0].metadata_sha256) !=
               std::string::npos;
    };
    CHECK(has_old_name("sample"));
    for (const char* other : {"Sample", "sam.ple", ""})
        CHECK_FALSE(has_old_name(other));
}
