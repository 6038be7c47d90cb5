// An enumeration and its words in one table, which writes, reads and lists them.
//
//     constexpr auto colours = words<Colour>({{Colour::red, "red"}, {Colour::green, "green"}});
//     colours.text(Colour::red) == "red"
//     colours.find("green") == Colour::green
//     colours.list() == "`red`, `green`"
//
// A table that has more than the word names its own Row, with the members `value` and `text`:
//
//     constexpr auto pages = words<Page, PageRow>({{Page::first, "first", "Title"}});
//     pages.row(Page::first).title == "Title"
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/check.hpp"
#include "lib/base/result.hpp"

namespace wheelyard::base {

template <typename Value>
struct Word {
    Value value;
    std::string_view text;
};

template <typename Value, std::size_t Count, typename Row = Word<Value>>
struct Words {
    std::array<Row, Count> rows;

    // A value without a row is a bug: a failed check.
    [[nodiscard]] const Row& row(Value value) const {
        for (const Row& one : rows) {
            if (one.value == value) return one;
        }
        WHEELYARD_CHECK(false);
        return rows.front();
    }
    [[nodiscard]] std::string_view text(Value value) const { return row(value).text; }
    [[nodiscard]] constexpr std::optional<Value> find(std::string_view text) const {
        for (const Row& one : rows) {
            if (one.text == text) return one.value;
        }
        return std::nullopt;
    }
    // An unknown word is the error `code` of the kind malformed; its advice lists the words.
    [[nodiscard]] Result<Value> parse(std::string_view text, std::string code, std::string sentence) const {
        if (const auto found = find(text)) return *found;
        return fail_malformed(std::move(code), std::move(sentence), std::string(text),
                              "use one of " + list());
    }
    // "`red`, `green`"; without an empty word.
    [[nodiscard]] std::string list() const {
        std::string all;
        for (const Row& one : rows) {
            if (!one.text.empty()) all += (all.empty() ? "`" : ", `") + std::string(one.text) + "`";
        }
        return all;
    }
};

template <typename Value, typename Row = Word<Value>, std::size_t Count>
[[nodiscard]] constexpr Words<Value, Count, Row> words(const Row (&rows)[Count]) {
    Words<Value, Count, Row> made{};
    for (std::size_t i = 0; i < Count; ++i)
        made.rows[i] = rows[i];
    return made;
}

}  // namespace wheelyard::base
