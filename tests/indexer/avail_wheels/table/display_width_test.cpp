// The number of terminal columns of a text.
#include "indexer/avail_wheels/table/table.hpp"

#include <doctest/doctest.h>

namespace wheelyard::avail_wheels {
namespace {

TEST_CASE("a character takes the columns that a terminal gives it, and a byte that is not UTF-8 takes one") {
    struct Row {
        const char* text;
        std::size_t columns;
    };
    for (const Row& row : {Row{"", 0}, Row{"abc", 3}, Row{"größe", 5}, Row{"e\u0301", 1}, Row{"日本", 4},
                           Row{"\U0001F600!", 3}, Row{"\xC3(a", 3}, Row{"\xE2\x82", 2}, Row{"\x80ü", 2}}) {
        CAPTURE(row.text);
        CHECK(display_width(row.text) == row.columns);
    }
}

}  // namespace
}  // namespace wheelyard::avail_wheels
