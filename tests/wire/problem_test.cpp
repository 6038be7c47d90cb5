// Problem documents: round trips and safe titles.
#include "lib/wire/problem.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/io/json.hpp"

using namespace wheelyard;

TEST_CASE("a problem's texts are read as one printable line each") {
    const auto problem =
        wire::parse_problem(R"({"title":"a","detail":"b\nc\u001b","value":"\u202e"})").value();
    CHECK(problem.detail == "b c?");
    CHECK(problem.value == "?");
}

TEST_CASE("a problem survives a round trip") {
    const wire::Problem problem{
        .status = 409,
        .code = "upload.name_taken",
        .title = "File already exists (six-1.16.0-py2.py3-none-any.whl)",
        .detail = "The index has a file of this name \"with\" other bytes. Second line, ü.",
        .value = "six-1.16.0-py2.py3-none-any.whl",
        .advice = "raise the version"};
    const auto back = wire::parse_problem(wire::render_problem(problem));
    REQUIRE(back.has_value());
    CHECK(back->status == 409);
    CHECK(back->code == problem.code);
    CHECK(back->title == problem.title);
    CHECK(back->detail == problem.detail);
    CHECK(back->value == problem.value);
    CHECK(back->advice == problem.advice);
}

TEST_CASE("a problem is an RFC 9457 object: always with type, title and status, without empty members") {
    CHECK(wire::render_problem(
              {.status = 500, .code = {}, .title = "It failed", .detail = {}, .value = {}, .advice = {}}) ==
          R"({"type":"about:blank","title":"It failed","status":500})");
}

TEST_CASE("members of newer servers are ignored, absent ones are empty") {
    const auto problem = wire::parse_problem(R"({"code":"x.y","new":{"a":[1]},"title":null})");
    REQUIRE(problem.has_value());
    CHECK(problem->code == "x.y");
    CHECK(problem->title.empty());
    CHECK(problem->status == 0);
}

TEST_CASE("text that is not a problem document is an error") {
    for (const char* body :
         {"", "[]", "\"text\"", "{", "<html>", R"({"status":99})", R"({"status":600})", R"({"status":-1})"}) {
        CAPTURE(body);
        CHECK_FALSE(wire::parse_problem(body).has_value());
    }
}

TEST_CASE("a title is one line of at most 120 printable ASCII characters") {
    struct Row {
        std::string text;
        std::string title;
    };
    const Row rows[] = {
        {"", ""},
        {"plain", "plain"},
        {"ends like a sentence.", "ends like a sentence"},
        {"two\r\nlines: a header cannot be forged", "two??lines: a header cannot be forged"},
        {std::string("nul\0del\x7f", 8), "nul?del?"},
        {"ü", "??"},
        {std::string(120, 'x'), std::string(120, 'x')},
        {std::string(121, 'x'), std::string(117, 'x') + "..."},
    };
    for (const Row& row : rows) {
        CAPTURE(row.text);
        CHECK(wire::one_line_title(row.text) == row.title);
    }
}
