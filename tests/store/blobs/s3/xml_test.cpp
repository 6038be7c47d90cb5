// Answers of stores as XML, and what none may look like.
#include "lib/store/blobs/s3/client.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace wheelyard::blobs;

TEST_CASE("elements, text, references and CDATA are read; declarations, comments and attributes are not") {
    const auto root = parse_xml(
        "\xef\xbb\xbf<?xml version=\"1.0\" encoding='UTF-8'?>\n<!-- x --><s3:List xmlns=\"a\" b = 'c>'>\n"
        "<Key>a&amp;b&#60;&#x00fc;&#x1F600;</Key><Key><![CDATA[<c>]]>d<!-- e -->f</Key><Empty/><Empty x='1' "
        "/>"
        "</s3:List >\n");
    REQUIRE(root);
    CHECK(root->name == "List");
    REQUIRE(root->children.size() == 4);
    CHECK(root->children[0].text == "a&b<\xc3\xbc\xf0\x9f\x98\x80");
    CHECK(root->children[1].text == "<c>df");
    CHECK(root->child_text("Key") == "a&b<\xc3\xbc\xf0\x9f\x98\x80");
    CHECK(root->child("Empty") != nullptr);
    CHECK(root->child("Other") == nullptr);
    CHECK(root->child_text("Other").empty());
}

TEST_CASE("what is no XML of S3 is refused") {
    std::string deep;
    for (std::size_t at = 0; at <= max_xml_depth; ++at)
        deep += "<a>";
    std::string many = "<a>";
    for (std::size_t at = 0; at < max_xml_elements; ++at)
        many += "<b/>";
    for (const std::string& text : {std::string(),
                                    std::string("text"),
                                    std::string("<a>"),
                                    std::string("<a></b>"),
                                    std::string("<a"),
                                    std::string("<a></a>x"),
                                    std::string("<a></a><b/>"),
                                    std::string("<a b></a>"),
                                    std::string("<a b=c></a>"),
                                    std::string("<a b='c></a>"),
                                    std::string("<>x</>"),
                                    std::string("<a>&unknown;</a>"),
                                    std::string("<a>&amp</a>"),
                                    std::string("<a>&#0;</a>"),
                                    std::string("<a>&#xD800;</a>"),
                                    std::string("<a>&#x110000;</a>"),
                                    std::string("<a>&#;</a>"),
                                    std::string("<a><![CDATA[x</a>"),
                                    std::string("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"),
                                    std::string("<a><!DOCTYPE b></a>"),
                                    std::string("<!-- a"),
                                    deep,
                                    many + "</a>"}) {
        const auto parsed = parse_xml(text);
        CHECK_MESSAGE(!parsed, text.substr(0, 60));
        if (!parsed) CHECK(parsed.error().kind == wheelyard::base::ErrorKind::malformed);
    }
}
