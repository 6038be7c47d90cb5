#include "indexer/avail_wheels/table/table.hpp"

#include <doctest/doctest.h>

#include "tests/support/golden.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

namespace {

const std::vector<std::string> headers{"name", "version", "python", "arch"};
const std::vector<Row> rows{
    {"h5netcdf", "0.7.4", "py2,py3", "generic"}, {"netCDF4", "1.10", "cp39", "avx2"}, {"pip", "", "", ""}};
const std::vector<Row> odd_rows{{"日本語パッケージ", "1.0", "é̀", "a&b<c_d>"},
                                {"emoji🚀", "2", "한국어", "50% #1 {x} ~^\\ $"},
                                {"\"quoted\"", "it's", "", ""}};

}  // namespace

// tabulate itself generates the golden files, except for csv
// (tests/golden/avail_wheels/draw_with_tabulate.py).
TEST_CASE("every format is drawn as by tabulate") {
    for (const auto& format : table_formats()) {
        if (format == "json") continue;
        CAPTURE(format);
        CHECK(test_support::golden_difference("avail_wheels/table_" + format + ".txt",
                                              render_table(format, headers, rows)) == "");
        CHECK(test_support::golden_difference("avail_wheels/empty_" + format + ".txt",
                                              render_table(format, headers, {})) == "");
        CHECK(test_support::golden_difference("avail_wheels/odd_" + format + ".txt",
                                              render_table(format, headers, odd_rows)) == "");
    }
}

TEST_CASE("a column is as wide as its widest cell and at least its header + 2") {
    CHECK(render_table("simple", {"name"}, {{"a"}}) == "name\n------\na\n");
    CHECK(render_table("simple", {"name"}, {{"abcdef"}}) == "name\n------\nabcdef\n");
    CHECK(render_table("simple", {"name"}, {{"abcdefg"}}) == "name\n-------\nabcdefg\n");
    CHECK(render_table("simple", {"name"}, {{"Größe"}}) == "name\n------\nGröße\n");
}

TEST_CASE("a version that looks like a number stays unchanged") {
    CHECK(render_table("plain", {"version"}, {{"1.10"}, {"2"}}) == "version\n1.10\n2\n");
}

TEST_CASE("csv quotes special characters (RFC 4180)") {
    CHECK(render_table("csv", {"name", "python"}, {{"a", "py2,py3"}, {"say \"hi\"", "x\ny"}}) ==
          "name,python\na,\"py2,py3\"\n\"say \"\"hi\"\"\",\"x\ny\"\n");
}
