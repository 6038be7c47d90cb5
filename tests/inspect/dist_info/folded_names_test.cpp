// Names that some file system takes for one
#include "lib/inspect/dist_info/installed_tree.hpp"

#include <doctest/doctest.h>

#include <string>

using wheelyard::inspect::folded_name;
using wheelyard::inspect::may_be_one_file;

TEST_CASE("names that differ in case or in the spelling of accents may be one file") {
    struct Row {
        std::string a, b;
        bool is_one;
    };
    for (const Row& row : {
             Row{"a/README", "a/readme", true},
             Row{"a", "b", false},
             Row{"caf\u00e9", "cafe\u0301", true},
             Row{"CAF\u00c9", "cafe\u0301", true},
             Row{"caf\u00e9", "cafe", false},
             Row{"caf\u00e9", "caf\u00e8", false},
             Row{"\u00c4\u0141\u0394\u0416\u1eb2", "\u00e4\u0142\u03b4\u0436\u1eb3", true},  // ÄŁΔЖẲ
             Row{"\u017d", "Z\u030c", true},
             Row{"\u304c", "\u304b\u3099", true},        // が
             Row{"\uac01", "\u1100\u1161\u11a8", true},  // 각
             Row{"\u6570", "\u6a21", false},
             Row{"\u00d7", "\u00f7", false},
             Row{"a/\u0301b", "a/b", false},
             Row{"\xff", "\xfe", false},
             Row{"\xff/A", "\xff/a", true},
         }) {
        CAPTURE(row.a);
        CAPTURE(row.b);
        CHECK((folded_name(row.a) == folded_name(row.b) && may_be_one_file(row.a, row.b)) == row.is_one);
    }
}
