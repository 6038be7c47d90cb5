#include "lib/base/text/text_table.hpp"

#include <doctest/doctest.h>

using wheelyard::base::render_table;
using wheelyard::base::wrap_cells;
using wheelyard::base::wrap_lines;

TEST_CASE("columns are as wide as their widest cell, and no line ends in a space") {
    CHECK(render_table({{"PACKAGE", "VERSION", "WHY"}, {"six", "1.16.0", ""}, {"numpy", "2", "not built"}}) ==
          "PACKAGE  VERSION  WHY\n"
          "six      1.16.0\n"
          "numpy    2        not built\n");
}

TEST_CASE("rows may differ in length, a cell stays on its line, and no rows are no text") {
    CHECK(render_table({}).empty());
    CHECK(render_table({{"a"}, {}, {"two\nlines", "b"}}) == "a\n\ntwo lines  b\n");
}

TEST_CASE("a table that fits a terminal breaks cells between words, the widest column first") {
    const std::vector<wheelyard::base::TableRow> rows{
        {"NAME", "STATE", "WHY"}, {"torch", "wanted", "waits for a free job"}, {"six", "have", ""}};
    CHECK(render_table(rows, 0) == render_table(rows));
    CHECK(render_table(rows, 35) == render_table(rows));
    CHECK(render_table(rows, 27) ==
          "NAME   STATE   WHY\ntorch  wanted  waits for a\n               free job\nsix    have\n");
    // Longer words are not cut.
    const auto wrapped =
        wrap_cells({{"a-long-name", "b c"}}, 5, 2, [](std::string_view text) { return text.size(); });
    CHECK(wrapped == std::vector<wheelyard::base::TableRow>{{"a-long-name", "b"}, {"", "c"}});
}

TEST_CASE("a last column without room stands below its row") {
    CHECK(render_table({{"ATTEMPT", "CELL", "WHAT"},
                        {"w1", "demo-1.0-cp311", "build failed: no space left"},
                        {"w2", "x", ""}},
                       32) ==
          "ATTEMPT  CELL\n    WHAT\nw1       demo-1.0-cp311\n    build failed: no space left\nw2       x\n");
}

TEST_CASE("a table whose words need more columns than there are is stacked, each cell beside its head") {
    const std::vector<wheelyard::base::TableRow> rows{{"FILE", "STATE", "BY"},
                                                      {"torch-2.7.0-cp312.whl", "active, pinned", "ci"},
                                                      {"six.whl", "active", ""}};
    CHECK(render_table(rows, 26) ==
          "FILE   torch-2.7.0-cp312.whl\nSTATE  active, pinned\nBY     ci\n\nFILE   six.whl\nSTATE  "
          "active\n\n");
    CHECK(render_table(rows, 20).find("STATE  active,\n       pinned\n") != std::string::npos);
    CHECK(render_table(rows, 41) == render_table(rows));
}

TEST_CASE("long lines of a text are broken between words") {
    CHECK(wrap_lines("one two three\n  four five six\n", 9) ==
          "one two\n  three\n  four\n    five\n    six\n");
    CHECK(wrap_lines("one two three\n", 0) == "one two three\n");
    CHECK(wrap_lines("a-very-long-word b\n", 5) == "a-very-long-word\n  b\n");
    CHECK(wrap_lines("", 5).empty());
}

TEST_CASE("a line of a name and its value goes on below the value") {
    CHECK(wrap_lines("  why   it waits for a job\n", 20) == "  why   it waits for\n        a job\n");
    CHECK(wrap_lines("a text  and another one\n", 12) == "a text\n  and\n  another\n  one\n");
}

TEST_CASE("a command that a reader may paste stays on one line") {
    const std::pair<const char*, const char*> rows[] = {
        {"ask (`tool list --all`) first", "ask\n  (`tool list --all`)\n  first\n"},
        {"one `two three four", "one `two\n  three\n  four\n"},
        {"ask: avail_wheels --request 'a==1'; or wait",
         "ask:\n  avail_wheels --request 'a==1';\n  or wait\n"},
        {"module load gcc/12 openmpi/4", "module load gcc/12 openmpi/4\n"},
        {"then wheelyard-builder retry --all", "then\n  wheelyard-builder retry --all\n"},
    };
    for (const auto& [text, wrapped] : rows)
        CHECK(wrap_lines(text, 10) == wrapped);
    CHECK(wrap_cells({{"a", "module load b c"}}, 9, 2, [](std::string_view text) { return text.size(); }) ==
          std::vector<wheelyard::base::TableRow>{{"a", "module load b c"}});
}
