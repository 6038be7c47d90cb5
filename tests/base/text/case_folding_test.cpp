// Capital letters of the Unicode database, which Python's str.lower() read for the second line of each pair.
#include "lib/base/text/utf8.hpp"

#include <doctest/doctest.h>

using wheelyard::base::fold_case;

TEST_CASE("Latin, Greek and Cyrillic capitals become small letters, everything else stays") {
    CHECK(fold_case("ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖØÙÚÛÜÝÞ") == "àáâãäåæçèéêëìíîïðñòóôõöøùúûüýþ");
    CHECK(fold_case("ĀĂĄĆĈĊČĎĐĒĔĖĘĚĜĞĠĢĤĦĨĪĬĮİĲĴĶĹĻĽĿŁŃŅŇŊŌŎŐŒŔŖŘŚŜŞŠŢŤŦŨŪŬŮŰŲŴŶŸŹŻŽ") ==
          "āăąćĉċčďđēĕėęěĝğġģĥħĩīĭįiĳĵķĺļľŀłńņňŋōŏőœŕŗřśŝşšţťŧũūŭůűųŵŷÿźżž");
    CHECK(fold_case("ΆΈΉΊΌΎΏΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩΪΫ") == "άέήίόύώαβγδεζηθικλμνξοπρστυφχψωϊϋ");
    CHECK(fold_case("ЀЁЂЃЄЅІЇЈЉЊЋЌЍЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯ") ==
          "ѐёђѓєѕіїјљњћќѝўџабвгдежзийклмнопрстуфхцчшщъыьэюя");
    CHECK(fold_case("École 12 TORCH") == "école 12 torch");
    for (const char* same : {"", "×÷ßĸŉſ", "ΐςσ·", "日本語", "a\xC3", "\xC3\x28", "\xE9"})
        CHECK_MESSAGE(fold_case(same) == same, same);
}
