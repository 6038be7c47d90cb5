// The end of a program's output, shortened to a few lines.
#include "builder/doctor/doctor.hpp"

#include <doctest/doctest.h>

#include <string>

#include "builder/attempt/limits.hpp"
#include "lib/base/limits.hpp"
#include "lib/base/text/text.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("the last non-empty lines are shown as they appeared on a terminal") {
    CHECK(last_words("").empty());
    CHECK(last_words("\n \n").empty());
    CHECK(last_words("one") == "one");
    CHECK(last_words("\x82\xAC half\n") == "half");
    CHECK(last_words("1\n2\n3\n\n4\r\n\n") == "2 / 3 / 4");
    CHECK(last_words("so far\r 10 %\r 99 %\n\x1b[31mfatal:\x1b[0m it is\tbroken\n") ==
          "99 % / fatal: it is broken");
}

TEST_CASE("a long line is cut between characters") {
    for (std::size_t before = 0; before < 3; ++before) {
        CAPTURE(before);
        std::string line(before, 'x');
        while (line.size() < 64 * base::kib)
            line += "€";
        const std::string shown = last_words(line + "\n" + line + "\nthe end");
        CHECK(shown.size() < 3 * (max_error_line_bytes + 3) + 6);
        CHECK(shown.ends_with("… / the end"));
        CHECK(base::is_utf8(shown));
    }
}

}  // namespace
}  // namespace wheelyard::builder
