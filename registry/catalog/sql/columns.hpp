// The columns of a row, each once: what SELECT, INSERT and a copy name, and the member that holds it. The schemas have them
// as steps (../sqlite/schema.cpp, ../postgres/schema.cpp); a test compares.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "lib/io/json.hpp"
#include "registry/catalog/catalog.hpp"

namespace wheelyard::catalog::sql {

enum class Shown {
    in_page,     // part of the files of a page
    in_row_only  // a page knows it otherwise, or does not show it
};

template <typename Row, typename Value>
struct Column {
    std::string_view name;
    Value Row::*member;
    Shown shown = Shown::in_page;
    bool may_be_null = false;  // NULL is the empty text: a reference to a blob that is not there
};
// Clang below 17 deduces nothing for an aggregate by itself (P1816).
template <typename Row, typename Value>
Column(std::string_view, Value Row::*, Shown = {}, bool = {}) -> Column<Row, Value>;

inline constexpr std::tuple file_columns{
    Column{"index_name", &FileRow::index, Shown::in_row_only},
    Column{"project", &FileRow::project, Shown::in_row_only},
    Column{"filename", &FileRow::filename},
    Column{"version", &FileRow::version},
    Column{"sha256", &FileRow::sha256},
    Column{"size_bytes", &FileRow::size_bytes},
    Column{"metadata_sha256", &FileRow::metadata_sha256},
    Column{"metadata_size_bytes", &FileRow::metadata_size_bytes},
    Column{"requires_python", &FileRow::requires_python},
    Column{"upload_time", &FileRow::upload_time},
    Column{"uploaded_by", &FileRow::uploaded_by, Shown::in_row_only},
    Column{"yanked", &FileRow::yanked},
    Column{"yanked_reason", &FileRow::yanked_reason},
    Column{"facts_json", &FileRow::facts_json},
    Column{"state", &FileRow::state},
    Column{"state_reason", &FileRow::state_reason, Shown::in_row_only},
    Column{"pinned", &FileRow::pinned, Shown::in_row_only},
    Column{"metadata_name", &FileRow::metadata_name},
    Column{"provenance_sha256", &FileRow::provenance_sha256, Shown::in_page, true},
    Column{"provenance_size_bytes", &FileRow::provenance_size_bytes},
    Column{"attestations_sha256", &FileRow::attestations_sha256, Shown::in_page, true},
    Column{"attestations_size_bytes", &FileRow::attestations_size_bytes},
};

inline constexpr std::tuple token_columns{
    Column{"id", &TokenRow::id},
    Column{"secret_sha256", &TokenRow::secret_sha256},
    Column{"name", &TokenRow::name},
    Column{"indexes_json", &TokenRow::indexes},
    Column{"projects_json", &TokenRow::projects},
    Column{"actions_json", &TokenRow::actions},
    Column{"created", &TokenRow::created},
    Column{"expires", &TokenRow::expires},
    Column{"revoked", &TokenRow::revoked},
    Column{"created_by", &TokenRow::created_by},
    Column{"revoked_by", &TokenRow::revoked_by},
    Column{"revoked_at", &TokenRow::revoked_at},
};

// The blobs that a file refers to: gc relies on it.
struct BlobOfFile {
    std::string_view sha256_column;
    std::string FileRow::*sha256;
    std::string_view size_column;
    std::uint64_t FileRow::*size_bytes;
};
inline constexpr std::array blobs_of_file{
    BlobOfFile{"sha256", &FileRow::sha256, "size_bytes", &FileRow::size_bytes},
    BlobOfFile{"metadata_sha256", &FileRow::metadata_sha256, "metadata_size_bytes",
               &FileRow::metadata_size_bytes},
    BlobOfFile{"provenance_sha256", &FileRow::provenance_sha256, "provenance_size_bytes",
               &FileRow::provenance_size_bytes},
    BlobOfFile{"attestations_sha256", &FileRow::attestations_sha256, "attestations_size_bytes",
               &FileRow::attestations_size_bytes},
};

// Whether a file refers to the blob of the statement's row.
inline std::string is_referenced() {
    std::string any;
    for (const BlobOfFile& blob : blobs_of_file)
        any += (any.empty() ? "(" : " OR ") + std::string("EXISTS (SELECT 1 FROM file WHERE file.") +
               std::string(blob.sha256_column) + " = blob.sha256)";
    return any + ")";
}

// --- one value, as it is kept ----------------------------------------------------------------------------------------

// The schema permits no other value; if there is one, hiding the file is safe.
inline FileState state_of(std::string_view text) {
    return parse_file_state(text).value_or(FileState::quarantined);
}

template <typename Query>
void read_value(const Query& query, int at, std::string& into) {
    into = query.view(at);
}
template <typename Query>
void read_value(const Query& query, int at, std::uint64_t& into) {
    into = static_cast<std::uint64_t>(query.integer(at));
}
template <typename Query>
void read_value(const Query& query, int at, std::int64_t& into) {
    into = query.integer(at);
}
template <typename Query>
void read_value(const Query& query, int at, bool& into) {
    into = query.integer(at) != 0;
}
template <typename Query>
void read_value(const Query& query, int at, FileState& into) {
    into = state_of(query.view(at));
}
// A damaged list yields a token without rights, which is the safe interpretation.
template <typename Query>
void read_value(const Query& query, int at, std::vector<std::string>& into) {
    into = io::parse_json(query.view(at)).value_or(io::Json()).texts();
}

inline std::string_view value_of(const std::string& value) {
    return value;
}
inline std::int64_t value_of(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}
inline std::int64_t value_of(std::int64_t value) {
    return value;
}
inline std::int64_t value_of(bool value) {
    return value ? 1 : 0;
}
inline std::string_view value_of(FileState value) {
    return file_state_text(value);
}
inline std::string value_of(const std::vector<std::string>& value) {
    return io::Json::array_of(value).render();
}

template <typename Value>
inline constexpr bool is_number = std::is_arithmetic_v<Value>;

// --- all columns of a row --------------------------------------------------------------------------------------------

template <typename Columns, typename Use>
void for_each_column(const Columns& columns, Use use) {
    std::apply([&](const auto&... column) { (use(column), ...); }, columns);
}

// "index_name, …, coalesce(provenance_sha256, '')", in the order in which read_row() takes them.
template <typename Columns>
std::string names_to_read(const Columns& columns, Shown shown = Shown::in_row_only) {
    std::string names;
    for_each_column(columns, [&](const auto& column) {
        if (column.shown > shown) return;
        names += names.empty() ? "" : ", ";
        names +=
            column.may_be_null ? "coalesce(" + std::string(column.name) + ", '')" : std::string(column.name);
    });
    return names;
}

// The columns from position `at` on; the others stay as they are.
template <typename Query, typename Columns, typename Row>
void read_row(const Query& query, const Columns& columns, Row& row, int at = 0,
              Shown shown = Shown::in_row_only) {
    for_each_column(columns, [&](const auto& column) {
        if (column.shown <= shown) read_value(query, at++, row.*column.member);
    });
}

template <typename Row, typename Columns, typename Query>
Row row_of(const Query& query, const Columns& columns) {
    Row row{};
    read_row(query, columns, row);
    return row;
}

// INSERT INTO `table`, with `more_values` for the columns of `more_names` ("added_serial").
template <typename Database, typename Columns, typename Row, typename... More>
base::Status insert_row(const Database& database, std::string_view table, const Columns& columns,
                        const Row& row, std::string_view more_names = {}, const More&... more_values) {
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
            return database.run_later(
                "INSERT INTO " + std::string(table) + " (" + names + ") VALUES (" + places + ")",
                value_of(row.*column.member)..., more_values...);
        },
        columns);
}

// Whether a column of this name may be NULL, in a table of these columns.
template <typename Columns>
bool may_be_null(const Columns& columns, std::string_view name) {
    bool found = false;
    for_each_column(
        columns, [&](const auto& column) { found = found || (column.may_be_null && column.name == name); });
    return found;
}

// "size_bytes,upload_time": the columns that are numbers, or those that are not, as a copy names them.
template <typename Columns>
std::string names_of_kind(const Columns& columns, bool numbers) {
    std::string names;
    for_each_column(columns, [&]<typename Row, typename Value>(const Column<Row, Value>& column) {
        if (is_number<Value> == numbers) names += (names.empty() ? "" : ",") + std::string(column.name);
    });
    return names;
}

}  // namespace wheelyard::catalog::sql
