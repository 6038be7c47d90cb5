// The columns of a row, each once: what SELECT, INSERT and a copy name, and where the row has them. A
// module's are in its sql/; the engines' schemas have them as steps, and a test compares.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "lib/base/result.hpp"

namespace wheelyard::engine {

enum class Shown {
    in_page,     // part of the files of a page
    in_row_only  // a page knows it otherwise, or does not show it
};

// `member`: &Row::member, or what returns a reference to the value in a row.
template <typename Member>
struct Column {
    std::string_view name;
    Member member;
    Shown shown = Shown::in_page;
    bool may_be_null = false;  // NULL is the empty text: a reference to a blob that is not there
};
// Clang below 17 deduces nothing for an aggregate by itself (P1816).
template <typename Member>
Column(std::string_view, Member, Shown = {}, bool = {}) -> Column<Member>;

// A member of a part of the row: Part{&Task::request, &TaskRequest::package}.
template <typename Row, typename Of, typename Value>
struct Part {
    Of Row::*part;
    Value Of::*member;
    Value& operator()(Row& row) const { return row.*part.*member; }
    const Value& operator()(const Row& row) const { return row.*part.*member; }
};
template <typename Row, typename Of, typename Value>
Part(Of Row::*, Value Of::*) -> Part<Row, Of, Value>;

// --- one value, as it is kept
// ----------------------------------------------------------------------------------------

// read() and written(); a module adds those of its enumerations.
template <typename Value>
struct Kept;

template <>
struct Kept<std::string> {
    template <typename Query>
    static void read(const Query& query, int at, std::string& into) {
        into = query.view(at);
    }
    static std::string_view written(const std::string& value) { return value; }
};
template <typename Value>
requires std::is_arithmetic_v<Value>
struct Kept<Value> {
    template <typename Query>
    static void read(const Query& query, int at, Value& into) {
        into = static_cast<Value>(query.integer(at));
    }
    static std::int64_t written(Value value) { return static_cast<std::int64_t>(value); }
};

// The value of a column in a row, and its type.
template <typename Member, typename Row>
auto& value_in(Row& row, const Column<Member>& column) {
    return std::invoke(column.member, row);
}
template <typename Member, typename Row>
auto written_value(const Row& row, const Column<Member>& column) {
    return Kept<std::remove_cvref_t<decltype(value_in(row, column))>>::written(value_in(row, column));
}

// --- all columns of a row
// --------------------------------------------------------------------------------------------

template <typename Columns, typename Use>
void for_each_column(const Columns& columns, Use use) {
    std::apply([&](const auto&... column) { (use(column), ...); }, columns);
}

// "task.index_name, …, coalesce(task.provenance_sha256, '')", in the order in which read_row() takes them.
// `of`: "task.", where a statement has several tables.
template <typename Columns>
std::string names_to_read(const Columns& columns, Shown shown = Shown::in_row_only,
                          std::string_view of = {}) {
    std::string names;
    for_each_column(columns, [&](const auto& column) {
        if (column.shown > shown) return;
        const std::string name = std::string(of) + std::string(column.name);
        names += (names.empty() ? "" : ", ") + (column.may_be_null ? "coalesce(" + name + ", '')" : name);
    });
    return names;
}

// The columns from position `at` on; the others stay as they are.
template <typename Query, typename Columns, typename Row>
void read_row(const Query& query, const Columns& columns, Row& row, int at = 0,
              Shown shown = Shown::in_row_only) {
    for_each_column(columns, [&](const auto& column) {
        if (column.shown > shown) return;
        auto& value = value_in(row, column);
        Kept<std::remove_cvref_t<decltype(value)>>::read(query, at++, value);
    });
}

template <typename Row, typename Columns, typename Query>
Row row_of(const Query& query, const Columns& columns) {
    Row row{};
    read_row(query, columns, row);
    return row;
}

// All rows of a query, each through `read`.
template <typename Statement, typename Read>
auto collect(Statement& query, Read read) -> base::Result<std::vector<decltype(read(query))>> {
    std::vector<decltype(read(query))> rows;
    while (true) {
        WHEELYARD_ASSIGN(const bool is_row, query.step());
        if (!is_row) return rows;
        rows.push_back(read(query));
    }
}

// The first row of a query through `read`, if it has one.
template <typename Statement, typename Read>
auto first_of(Statement& query, Read read) -> base::Result<std::optional<decltype(read(query))>> {
    WHEELYARD_ASSIGN(const bool is_row, query.step());
    if (!is_row) return std::nullopt;
    return read(query);
}

// INSERT INTO `table`, with `more_values` for the columns of `more_names` ("added_serial"), then `or_else`.
template <typename Database, typename Columns, typename Row, typename... More>
base::Status insert_row(const Database& database, std::string_view table, const Columns& columns,
                        const Row& row, std::string_view or_else = {}, std::string_view more_names = {},
                        const More&... more_values) {
    std::string names;
    std::string places;
    const auto add = [&](std::string_view name, std::string_view place) {
        names += (names.empty() ? "" : ", ") + std::string(name);
        places += (places.empty() ? "" : ", ") + std::string(place);
    };
    for_each_column(
        columns, [&](const auto& column) { add(column.name, column.may_be_null ? "nullif(?, '')" : "?"); });
    if (!more_names.empty()) add(more_names, "?");
    return std::apply(
        [&](const auto&... column) {
            return database.run_later("INSERT INTO " + std::string(table) + " (" + names + ") VALUES (" +
                                          places + ") " + std::string(or_else),
                                      written_value(row, column)..., more_values...);
        },
        columns);
}

// UPDATE `table` SET all columns WHERE `which`, of the values `keys`.
template <typename Database, typename Columns, typename Row, typename... Keys>
base::Status update_row(const Database& database, std::string_view table, const Columns& columns,
                        const Row& row, std::string_view which, const Keys&... keys) {
    std::string set;
    for_each_column(columns, [&](const auto& column) {
        set += (set.empty() ? "" : ", ") + std::string(column.name) + " = ?";
    });
    return std::apply(
        [&](const auto&... column) {
            return database.run_later(
                "UPDATE " + std::string(table) + " SET " + set + " WHERE " + std::string(which),
                written_value(row, column)..., keys...);
        },
        columns);
}

// "ON CONFLICT (claim) DO UPDATE SET claim = excluded.claim, …"
template <typename Columns>
std::string or_replace(const Columns& columns, std::string_view key) {
    std::string set;
    for_each_column(columns, [&](const auto& column) {
        const std::string name(column.name);
        set += (set.empty() ? "" : ", ") + name + " = excluded." + name;
    });
    return "ON CONFLICT (" + std::string(key) + ") DO UPDATE SET " + set;
}

// Says whether a column of this name may be NULL, in a table of these columns.
template <typename Columns>
bool may_be_null(const Columns& columns, std::string_view name) {
    bool found = false;
    for_each_column(
        columns, [&](const auto& column) { found = found || (column.may_be_null && column.name == name); });
    return found;
}

// "size_bytes,upload_time": the columns that are numbers, or those that are not, as a copy names them.
template <typename Row, typename Columns>
std::string names_of_kind(const Columns& columns, bool numbers) {
    std::string names;
    const Row row{};
    for_each_column(columns, [&](const auto& column) {
        if (std::is_arithmetic_v<decltype(written_value(row, column))> == numbers)
            names += (names.empty() ? "" : ",") + std::string(column.name);
    });
    return names;
}

}  // namespace wheelyard::engine
