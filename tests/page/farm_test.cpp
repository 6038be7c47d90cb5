// A farm's own look: which colours are readable, what its style sheet says, which files are its own.
#include "lib/page/farm.hpp"

#include <doctest/doctest.h>

#include "lib/page/assets.hpp"
#include "lib/page/frame.hpp"

using namespace wheelyard;
using page::Scheme;

namespace {

bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a colour must be readable on every ground of its scheme") {
    struct Row {
        const char* colour;
        Scheme scheme;
        const char* fault;  // part of it; empty: none
    };
    const Row rows[] = {
        {"#0b57a4", Scheme::light, ""},
        {"#0B57A4", Scheme::light, ""},
        {"#8fc0f8", Scheme::dark, ""},
        {"#0b57a4", Scheme::dark, "choose a lighter one"},
        {"#8fc0f8", Scheme::light, "choose a darker one"},
        {"#767676", Scheme::light, "4.2 on the page"},  // 4.5 on white alone
        {"#ffffff", Scheme::light, "contrast of 1.0"},
        {"red", Scheme::light, "#rrggbb"},
        {"#12345", Scheme::light, "#rrggbb"},
        {"#12345g", Scheme::light, "#rrggbb"},
        {"0b57a4f", Scheme::light, "#rrggbb"},
        {"00b57a4", Scheme::light, "#rrggbb"},
        {"#0b57a4ff", Scheme::light, "#rrggbb"},
        {"", Scheme::light, "#rrggbb"},
        {"#000000}x{", Scheme::light, "#rrggbb"},
    };
    for (const auto& [colour, scheme, fault] : rows) {
        CAPTURE(colour);
        const std::string found = page::colour_fault(colour, scheme);
        CHECK(found.empty() == (*fault == '\0'));
        CHECK_MESSAGE(has(found, fault), found);
    }
}

TEST_CASE("the grounds that colours are compared with are those of the style sheet") {
    const std::string style(page::asset("style.css").bytes);
    for (const char* colour : {"--ground:light-dark(#f6f7f9,#11141a)", "--soft:light-dark(#eef1f5,#222936)",
                               "--accent-soft:light-dark(#e3eefb,#1c2f4a)",
                               "--paper:light-dark(#ffffff,#191e27)", "--accent:light-dark(#0b57a4,#8fc0f8)",
                               "--bold:light-dark(#0b57a4,#8fc0f8)", "--on-bold:light-dark(#ffffff,#0d1520)"})
        CHECK_MESSAGE(has(style, colour), colour);
}

TEST_CASE("a farm's style sheet sets what is given") {
    CHECK(page::render_farm_style("", "").empty());
    CHECK(page::render_farm_style("#7a0019", "#ffcc33") ==
          ":root { --accent: light-dark(#7a0019, #ffcc33); --bold: light-dark(#7a0019, #ffcc33); "
          "--on-bold: light-dark(#ffffff, #0d1520); }\n");
    // The other one is ours.
    CHECK(has(page::render_farm_style("#7a0019", ""), "--accent: light-dark(#7a0019, #8fc0f8);"));
    CHECK(has(page::render_farm_style("", "#ffcc33"), "--accent: light-dark(#0b57a4, #ffcc33);"));
}

TEST_CASE("a farm's files are known by their names") {
    const std::string style = page::farm_file_name("farm", ".css", "x");
    CHECK(style == "farm.2d711642b726.css");  // the SHA-256 of "x"
    for (const auto& name :
         {style, page::farm_file_name("logo", ".svg", "y"), page::farm_file_name("logo", ".png", "")})
        CHECK(page::is_farm_file_name(name));
    for (const char* name :
         {"farm.css", "farm.2d711642b726.svg", "logo.2d711642b72.svg", "logo.2d711642b72g.svg",
          "logo.2d711642b726.svg.gz", "style.2d711642b726.css", ""})
        CHECK_FALSE_MESSAGE(page::is_farm_file_name(name), name);
    CHECK(page::farm_file_type("farm.x.css") == "text/css; charset=utf-8");
    CHECK(page::farm_file_type("logo.x.png") == "image/png");
    CHECK(page::farm_file_type("logo.x.svg") == "image/svg+xml");
}

TEST_CASE("the frame of a page names the farm, its style after ours, and its logo") {
    page::Frame frame;
    frame.root = "../";
    const std::string plain = page::render_page(frame, page::Html());
    CHECK(has(plain, "<a class=\"farm\" href=\"../\">Wheelyard</a>"));
    CHECK_FALSE(has(plain, "<img"));
    CHECK_FALSE(has(plain, "stylesheet\" href=\"../\""));
    frame.farm = {"Bede & friends", "farm.2d711642b726.css", "logo.2d711642b726.svg"};
    const std::string own = page::render_page(frame, page::Html());
    CHECK(has(own,
              "<a class=\"farm own\" href=\"../\"><img alt=\"\" src=\"../logo.2d711642b726.svg\">Bede &amp; "
              "friends</a>"));
    CHECK(has(own, "<link rel=\"icon\" href=\"../logo.2d711642b726.svg\">"));
    const auto ours = own.find(page::asset("style.css").published_name());
    const auto theirs = own.find("<link rel=\"stylesheet\" href=\"../farm.2d711642b726.css\">");
    REQUIRE(theirs != std::string::npos);
    CHECK(theirs > ours);
    CHECK(plain.find("stylesheet") == plain.rfind("stylesheet"));
}
