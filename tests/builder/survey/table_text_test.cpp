// Tables of site files as text.
#include "builder/survey/table_text.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

TEST_CASE(
    "a table has its comments: those right under its keys are its own, those after an empty line the next "
    "one's") {
    const auto tables = tables_of(
        "name = \"a\"\n\n# of b\n[b] # here\ncores = 8 # of one\n# options = []\n[[c.d]]\nlist = [\"x y\", "
        "\"z\"]\n\n");
    REQUIRE(tables.size() == 3);
    CHECK(tables[0].header.empty());
    CHECK(tables[0].lines == std::vector<std::string>{"name = \"a\""});
    CHECK(tables[1].header == "[b]");
    CHECK(tables[1].above == std::vector<std::string>{"# of b"});
    CHECK(tables[1].lines == std::vector<std::string>{"cores = 8 # of one", "# options = []"});
    CHECK(tables[2].name() == "c.d");
    CHECK(tables[2].is("c"));
    CHECK_FALSE(tables[2].is("c.d"));
    CHECK(key_of(tables[2].lines.at(0)) == "list");
    CHECK(key_of("# options = []").empty());
    CHECK(texts_of(tables[2].lines.at(0)) == std::vector<std::string>{"x y", "z"});
}

TEST_CASE("a list of lists over several lines begins no table") {
    CHECK(tables_of("list = [\n[\"a\", \"b\"],\n]\n").size() == 1);
}

}  // namespace
}  // namespace wheelyard::builder
