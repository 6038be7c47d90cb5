#include "lib/base/text/text_table.hpp"

#include <doctest/doctest.h>

using wheelyard::base::render_table;

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
