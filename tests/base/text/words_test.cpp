#include "lib/base/text/words.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace wheelyard::base {
namespace {

enum class Colour { none, red, green, missing };
constexpr auto colours =
    words<Colour>({{Colour::none, ""}, {Colour::red, "red"}, {Colour::green, "dark-green"}});

TEST_CASE("every value with a row has a word that is read back") {
    for (const auto& row : colours.rows)
        CHECK(colours.find(colours.text(row.value)) == row.value);
    CHECK(colours.text(Colour::green) == "dark-green");
    CHECK_FALSE(colours.find("Red").has_value());
    CHECK_FALSE(colours.find("re").has_value());
    CHECK_THROWS_AS((void)colours.text(Colour::missing), std::logic_error);
    static_assert(colours.find("red") == Colour::red);
}

struct Lamp {
    Colour value;
    std::string_view text;
    int watts;
};
constexpr auto lamps = words<Colour, Lamp>({{Colour::red, "red", 5}, {Colour::green, "green", 7}});

TEST_CASE("a table may have more than the words") {
    CHECK(lamps.row(Colour::green).watts == 7);
    CHECK(lamps.text(Colour::red) == "red");
    CHECK(lamps.list() == "`red`, `green`");
    static_assert(lamps.find("green") == Colour::green);
    CHECK_THROWS_AS((void)lamps.row(Colour::missing), std::logic_error);
}

TEST_CASE("the error about an unknown word has the word and names the known ones") {
    CHECK(colours.parse("red", "colour.unknown", "Not a colour") == Colour::red);
    const auto blue = colours.parse("blue", "colour.unknown", "Not a colour");
    REQUIRE_FALSE(blue.has_value());
    CHECK(blue.error().code == "colour.unknown");
    CHECK(blue.error().sentence == "Not a colour");
    CHECK(blue.error().value == "blue");
    CHECK(blue.error().advice == "use one of `red`, `dark-green`");
    CHECK(blue.error().kind == ErrorKind::malformed);
}

}  // namespace
}  // namespace wheelyard::base
