#include "lib/page/template.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

#include "lib/base/text/text.hpp"
#include "lib/page/frame.hpp"

namespace wheelyard::page {

namespace {

struct Leaf {
    std::string name;
    bool is_new = false;
    void show(Values& to) const { to("name", name)("is_new", is_new); }
};
struct Tree {
    std::string title;
    Html markup;
    std::vector<Leaf> leaves;
    std::vector<std::string> words;
    std::optional<Leaf> best;
    std::uint64_t count = 0;
    void show(Values& to) const {
        to("title", title)("markup", markup)("leaves", leaves)("words", words)("best", best)("count", count);
    }
};

std::string rendered(std::string_view text, const Tree& tree) {
    const auto made = Template::parse(text);
    REQUIRE_MESSAGE(made.has_value(), made.error().text());
    return made->render(Values::of(tree)).bytes();
}

constexpr std::string_view hostile = "\"'><script>alert(1)</script>&\xE2\x80\xAE";

}  // namespace

TEST_CASE("a value is escaped by the place where it stands") {
    const auto with = [](std::string_view text, std::string_view value) {
        return rendered(text,
                        {.title = std::string(value), .markup = {}, .leaves = {}, .words = {}, .best = {}});
    };
    CHECK(with("<p>{{title}}</p>", "a<b>&") == "<p>a&lt;b&gt;&amp;</p>");
    CHECK(with("<p title=\"{{title}}\">", "\" onload=\"x") == "<p title=\"&quot; onload=&quot;x\">");
    CHECK(with("<title>{{title}}</title>", "</title><b>") == "<title>&lt;/title&gt;&lt;b&gt;</title>");
    for (const char* attribute : {"href", "src", "HREF", "formaction"}) {
        const std::string text = "<a " + std::string(attribute) + "=\"{{title}}\">";
        CHECK(with(text, "javascript:alert(1)") == base::replace_all(text, "{{title}}", "#"));
        CHECK(with(text, "../a?b=c&d") == base::replace_all(text, "{{title}}", "../a?b=c&amp;d"));
    }
    for (const char* between : {"\t", "/", "\r\n", "\f"})
        CHECK(with("<a" + std::string(between) + "href=\"{{title}}\">", "javascript:a")
                  .ends_with("href=\"#\">"));
    // Behind the start it is a part of the address, whatever it contains.
    CHECK(with("<a href=\"../{{title}}/\">", "a/b?c#d\"") == "<a href=\"../a%2Fb%3Fc%23d%22/\">");
    CHECK(with("<a href=\"{{title}}{{title}}\">", "a:b/") == "<a href=\"#a%3Ab%2F\">");
    CHECK(with("<i data-href=\"{{title}}\">", "javascript:x") == "<i data-href=\"javascript:x\">");
    for (const char* text :
         {"<p>{{title}}</p>", "<p title=\"{{title}}\">", "<a href=\"{{title}}\">", "<a href=\"?{{title}}\">"})
        for (const char* left : {"<script", "\"'", "'>", "\xE2\x80\xAE"})
            CHECK(with(text, hostile).find(left) == std::string::npos);
}

TEST_CASE("a value where no escaping suffices is refused, and so is a text that is no template") {
    for (const char* refused : {"<{{x}}>",
                                "<p {{x}}>",
                                "<p {{x}}=\"a\">",
                                "<p a={{x}}>",
                                "<p a='{{x}}'>",
                                "<p onclick=\"{{x}}\">",
                                "<p style=\"a:{{x}}\">",
                                "<iframe srcdoc=\"{{x}}\">",
                                "<script>{{x}}</script>",
                                "<style>{{x}}</style>",
                                "<script src=\"a\" defer>{{x}}</script>",
                                "<script{{#x}} defer{{/x}}>{{x}}</script>",
                                "<!-- {{x}} -->",
                                "<SCRIPT>{{x}}</SCRIPT>",
                                "<p\x1Fhref=\"{{x}}\">",
                                "<script\n>{{x}}</script>",
                                "{{#x}}",
                                "{{/x}}",
                                "{{#x}}{{/y}}",
                                "{{x",
                                "{{}}",
                                "{{a b}}",
                                "{{x>}}",
                                "{{&x}}",
                                "{{{x}}}",
                                "<p",
                                "<p a=\"",
                                "<!-- ",
                                "{{#x}}<p a=\"{{/x}}",
                                "<a href=\"{{#x}}a{{/x}}{{y}}\">",
                                "<p a=b>",
                                "<p a='b'>",
                                "<p \">"}) {
        const auto made = Template::parse(refused);
        CHECK_MESSAGE(!made.has_value(), refused);
        if (!made) CHECK(made.error().code == "template.syntax");
    }
    std::string nested;
    for (int at = 0; at < 40; ++at)
        nested += "{{#x}}";
    CHECK(!Template::parse(nested));
    for (const char* taken : {"", "<!DOCTYPE html>", "<script src=\"{{x}}\"></script>{{x}}", "<br/>{{x}}",
                              "<!--s-->{{x}}<!--/s-->", "<p{{#x}} hidden{{/x}} a=\"{{x}}\">", "a } b { c"})
        CHECK_MESSAGE(Template::parse(taken).has_value(), taken);
}

TEST_CASE("sections follow what a view holds") {
    const Tree tree{.title = "t",
                    .markup = Html("<b>"),
                    .leaves = {{"one", true}, {"two"}},
                    .words = {"x", "<y>"},
                    .best = {},
                    .count = 2};
    CHECK(rendered("{{#leaves}}{{name}}{{#is_new}}!{{/is_new}}{{^is_new}}.{{/is_new}}{{title}} {{/leaves}}",
                   tree) == "one!t two.t ");
    CHECK(rendered("{{#words}}<i>{{.}}</i>{{/words}}", tree) == "<i>x</i><i>&lt;y&gt;</i>");
    CHECK(rendered("{{?leaves}}<ul>{{#leaves}}{{name}}{{/leaves}}</ul>{{/leaves}}{{?best}}x{{/best}}",
                   tree) == "<ul>onetwo</ul>");
    CHECK(rendered("{{#best}}{{name}}{{/best}}{{^best}}none{{/best}} {{count}} {{markup}}", tree) ==
          "none 2 <b>");
    CHECK(rendered("{{#title}}[{{title}}]{{/title}}{{#count}}{{! some }}{{count}}{{/count}}", tree) ==
          "[t]2");
    Tree other = tree;
    other.best = Leaf{"best"};
    other.leaves.clear();
    other.title = "";
    other.count = 0;
    CHECK(
        rendered(
            "{{#best}}{{name}}{{/best}}{{^leaves}}none{{/leaves}}{{#title}}x{{/title}}{{^count}}0{{/count}}",
            other) == "bestnone0");
    // A line that has only a section's tag leaves no trace; other line feeds stay.
    CHECK(rendered("<ul>\n{{#leaves}}\n<li>{{name}}\n{{/leaves}}\n</ul>\n", tree) ==
          "<ul>\n<li>one\n<li>two\n</ul>\n");
    CHECK(rendered("{{title}}{{#title}}\nx{{/title}}\n", tree) == "t\nx\n");
}

TEST_CASE("a name that the view has not, and markup in an attribute, are faults of the program") {
    for (const char* wrong :
         {"{{nothing}}", "{{#best}}{{nothing}}{{/best}}", "{{^title}}{{nothing}}{{/title}}",
          "{{#leaves}}{{.}}{{/leaves}}", "<p a=\"{{markup}}\">", "{{leaves}}"}) {
        const auto made = Template::parse(wrong);
        REQUIRE_MESSAGE(made.has_value(), wrong);
        CHECK_THROWS_AS(static_cast<void>(made->render(Values::of(Tree{}, true), true)), std::logic_error);
    }
    const auto made = Template::parse(
        "{{#leaves}}{{name}}{{title}}{{/leaves}}{{#words}}{{.}}{{/words}}{{#best}}{{name}}{{/best}}");
    CHECK_NOTHROW(static_cast<void>(made->render(Values::of(Tree{}, true), true)));
}

TEST_CASE("the frame has what its template names") {
    CHECK_NOTHROW(check_template<ShownFrame>("frame.html"));
}

TEST_CASE("a page of an index has the choice of a machine, a page of the server has none") {
    Frame frame;
    frame.data_root = "../../";
    CHECK(render_page(frame, {}).find("data-indexes=\"../../\"") != std::string::npos);
    frame.is_of_server = true;
    CHECK(render_page(frame, {}).find("id=\"machine\"") == std::string::npos);
}

TEST_CASE("each file of templates is well formed") {
    REQUIRE(!template_files().empty());
    for (const TemplateFile& file : template_files()) {
        const auto made = Template::parse(file.text);
        CHECK_MESSAGE(made.has_value(), file.name, ": ", made ? "" : made.error().text());
    }
}

}  // namespace wheelyard::page
