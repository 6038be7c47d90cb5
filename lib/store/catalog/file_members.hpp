// The members of a file row, each once: its name in the JSON of events and in the documents, and its column.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "lib/io/record.hpp"
#include "lib/store/catalog/catalog.hpp"
#include "lib/store/engine/columns.hpp"

namespace wheelyard::catalog {

// The table of an event, without details.
[[nodiscard]] std::span<const io::Member> event_members();

template <auto member>
using ValueOf = std::remove_cvref_t<decltype(std::declval<FileRow&>().*member)>;

// Binds a codec to a member, which may be one of the base.
template <auto member, typename Codec = io::Plain<ValueOf<member>>>
struct InRow {
    static io::Json to(const FileRow& row) { return Codec::to(row.*member); }
    static bool from(const io::Json& json, FileRow& into) { return Codec::from(json, into.*member); }
    static std::string type() { return Codec::type(); }
};
// One of catalog.hpp's enumerations, by its two functions.
template <auto text, auto parse>
struct WordBy {
    template <typename Value>
    static io::Json to(Value value) {
        return text(value);
    }
    template <typename Value>
    static bool from(const io::Json& json, Value& into) {
        const auto known = parse(json.as_string() == nullptr ? "" : *json.as_string());
        if (known) into = *known;
        return known.has_value();
    }
    static std::string type() { return "text"; }
};
using StateWord = WordBy<file_state_text, parse_file_state>;
struct FactsText {
    static io::Json to(const std::string& text) { return io::parse_json(text).value_or(io::Json::object()); }
    static bool from(const io::Json& json, std::string& into) {
        into = json.render();
        return true;
    }
    static std::string type() { return "object"; }
};
// Of a blob beside the wheel's; absent without one.
template <auto sha256, auto size>
struct SizeBeside : InRow<size> {
    static io::Json to(const FileRow& row) {
        return (row.*sha256).empty() ? io::Json() : io::Json(row.*size);
    }
};

struct InTable {
    engine::Shown shown = engine::Shown::in_page;
    bool may_be_null = false;
    std::string_view column = {};  // where its name is another one
};
template <typename Member>
struct FileMember {
    io::Field<FileRow> json;
    engine::Column<Member> column;
};
template <auto member, typename Codec = InRow<member>>
constexpr FileMember<decltype(member)> file_member(std::string_view name, std::string_view meaning,
                                                   io::Need need = io::Need::optional,
                                                   io::Written written = io::Written::always,
                                                   InTable table = {}) {
    return {io::field_of<FileRow, Codec>(name, meaning, need, written),
            {table.column.empty() ? name : table.column, member, table.shown, table.may_be_null}};
}

namespace rows {  // short names for the table

using R = FileRow;
using io::Need;
using io::Written;
inline constexpr InTable not_in_page{engine::Shown::in_row_only};
inline constexpr InTable blob{engine::Shown::in_page, true};

inline constexpr std::tuple members{
    file_member<&R::index>("index", "its index", Need::required, Written::always,
                           {engine::Shown::in_row_only, false, "index_name"}),
    file_member<&R::project>("project", "the project's normalised name", Need::required, Written::always,
                             not_in_page),
    file_member<&R::filename>("filename", "its name", Need::required),
    file_member<&R::version>("version", "including the local label", Need::required),
    file_member<&R::sha256>("sha256", "its digest", Need::required),
    file_member<&R::size_bytes>("size_bytes", "its size", Need::required),
    file_member<&R::metadata_sha256>("metadata_sha256", "digest of its METADATA, or empty"),
    file_member<&R::metadata_size_bytes>("metadata_size_bytes", "size of its METADATA", Need::required),
    file_member<&R::metadata_name>("metadata_name", "the name as METADATA spells it"),
    file_member<&R::requires_python>("requires_python", "as METADATA gives it"),
    file_member<&R::upload_time>("upload_time", "in microseconds since 1970", Need::required),
    file_member<&R::uploaded_by>("uploaded_by", "the name of the token", Need::optional, Written::always,
                                 not_in_page),
    file_member<&R::yanked>("yanked", "PEP 592"),
    file_member<&R::yanked_reason>("yanked_reason", "PEP 592"),
    file_member<&R::state, InRow<&R::state, StateWord>>("state", "absent: `active`", Need::valid),
    file_member<&R::state_reason>("state_reason", "the reason of the state", Need::optional, Written::always,
                                  not_in_page),
    file_member<&R::pinned>("pinned", "kept by retention", Need::optional, Written::always, not_in_page),
    file_member<&R::facts_json, InRow<&R::facts_json, FactsText>>(
        "facts", "what the wheel's bytes prove", Need::optional, Written::always,
        {engine::Shown::in_page, false, "facts_json"}),
    file_member<&R::provenance_sha256>("provenance_sha256", "digest of its provenance", Need::optional,
                                       Written::if_given, blob),
    file_member<&R::provenance_size_bytes, SizeBeside<&R::provenance_sha256, &R::provenance_size_bytes>>(
        "provenance_size_bytes", "size of its provenance", Need::optional, Written::unless_null),
    file_member<&R::attestations_sha256>("attestations_sha256", "digest of its attestations (PEP 740)",
                                         Need::optional, Written::if_given, blob),
    file_member<&R::attestations_size_bytes,
                SizeBeside<&R::attestations_sha256, &R::attestations_size_bytes>>(
        "attestations_size_bytes", "size of its attestations", Need::optional, Written::unless_null),
};

}  // namespace rows

inline constexpr auto& file_members = rows::members;

}  // namespace wheelyard::catalog
