// The members of a JSON record in one table, which writes, reads and documents them.
//
//     constexpr auto source_record = record<SourceFile>({
//         field<&SourceFile::kind>("kind", "`sdist` or `git`", Need::required),
//         field<Time, &SourceFile::fetched>("times.fetched", "when it was fetched"),
//     });
//
// "times.fetched" is the member `fetched` of the member `times`; such rows follow each other. Members are
// written in the order of the rows.
//
// For every reader an absent member, null and the empty text are the same: the member is not given, and its
// value stays the default. An empty list or object is given. Unknown members are ignored.
//
// A codec converts one value: `to` writes it, `from` reads it and returns false if the JSON is none, `type`
// names the type in errors and documents. A std::optional without a value is null. A codec without `from` is
// OnlyWritten: its member is never given.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/result.hpp"
#include "lib/io/json.hpp"

namespace wheelyard::io {

enum class Need {
    optional,    // an invalid value is ignored, as if it were not given
    even_empty,  // as optional, but the empty text is a value: being there says something
    valid,       // an invalid value is an error
    required,    // not given or invalid is an error
};

enum class Written {
    always,
    unless_null,
    if_given,      // not null, false or the empty text
    unless_empty,  // not null or an empty list or object
};

// Why a record cannot be read.
struct Fault {
    std::string path;      // "cells.state"; empty: the record itself
    std::string expected;  // its type
    std::string value;     // as found, cut
    bool is_missing = false;
    [[nodiscard]] std::string sentence() const;
};

struct Member;
// Other names are of documents that another standard defines, which have no `format`.
constexpr bool is_format(std::string_view name) {
    return name.starts_with("wheelyard.");
}
// The table of a document as a whole. Of a document with a name the member `format` comes first and has it.
struct Document {
    std::string_view name;                             // "wheelyard.task/1"; empty: a part of others
    std::vector<std::span<const Member>> tables = {};  // one after the other
    // It is kept as somebody sent it, maybe of an earlier version: only what its reader requires is there.
    bool is_kept = false;
    Document (*other)() = nullptr;  // what is there instead of it, in some cases
    [[nodiscard]] bool has_format() const { return is_format(name); }
};

// One row of a table; the owner's type is erased.
struct Member {
    std::string_view name;
    std::string_view meaning;
    Json (*to)(const void* owner) = nullptr;
    bool (*from)(const Json& json, void* owner, Fault& fault) = nullptr;
    std::string (*type)() = nullptr;
    Need need = Need::optional;
    Written written = Written::always;
    bool is_list = false;
    bool may_be_null = false;          // where it is written
    Document (*document)() = nullptr;  // of this member, or of each item of the list
};

// Says whether a reader counts the member as given.
[[nodiscard]] bool is_given(const Json* value);

void write_members(std::span<const Member> members, const void* owner, Json& json);
[[nodiscard]] bool read_members(std::span<const Member> members, const Json& json, void* owner, Fault& fault);
// Rows of a Markdown table: name, type and meaning.
[[nodiscard]] std::string document_rows(std::span<const Member> members);
// The table with its head; `format`: its first row.
[[nodiscard]] std::string document_members(std::span<const Member> members, std::string_view format);

template <typename Owner>
struct Field {
    Member member;
};

template <typename Owner, std::size_t Count>
struct Record {
    std::array<Member, Count> members;
    std::string_view format = {};  // the name of its documents, if they have one

    void write_into(Json& json, const Owner& owner) const { write_members(members, &owner, json); }
    [[nodiscard]] Json write(const Owner& owner) const {
        Json json = Json::object();
        if (is_format(format)) json.set("format", format);
        write_into(json, owner);
        return json;
    }
    [[nodiscard]] bool read(const Json& json, Owner& into, Fault& fault) const {
        return read_members(members, json, &into, fault);
    }
    // Errors "json.missing" and "json.type" with the path of the member.
    [[nodiscard]] base::Status read(const Json& json, Owner& into) const {
        Fault fault;
        if (read(json, into, fault)) return {};
        return base::fail_malformed(fault.is_missing ? "json.missing" : "json.type", fault.sentence(),
                                    fault.value);
    }
    [[nodiscard]] std::string document(std::string_view format = {}) const {
        return document_members(members, format);
    }
    [[nodiscard]] std::string rows() const { return document_rows(members); }
};

template <typename Owner, std::size_t Count>
[[nodiscard]] constexpr Record<Owner, Count> record(const Field<Owner> (&fields)[Count],
                                                    std::string_view format = {}) {
    Record<Owner, Count> made{.members = {}, .format = format};
    for (std::size_t i = 0; i < Count; ++i)
        made.members[i] = fields[i].member;
    return made;
}

template <const auto& Table>
[[nodiscard]] Document document_of() {
    return {Table.format, {Table.members}};
}

// Each reads a value of its type and returns whether there was one. Of a list, other elements than texts are
// ignored.
[[nodiscard]] bool read_plain(const Json& json, std::string& into);
[[nodiscard]] bool read_plain(const Json& json, bool& into);
[[nodiscard]] bool read_plain(const Json& json, double& into);
[[nodiscard]] bool read_plain(const Json& json, std::vector<std::string>& into);
[[nodiscard]] bool read_plain(const Json& json, std::set<std::string>& into);
template <std::integral T>
[[nodiscard]] bool read_plain(const Json& json, T& into) {
    const std::int64_t* value = json.as_int();
    if (value == nullptr || !std::in_range<T>(*value)) return false;
    into = static_cast<T>(*value);
    return true;
}

// The codec of a member for which no other is named.
template <typename T>
struct Plain {
    static Json to(const T& value) {
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string> || std::is_same_v<T, double>)
            return value;
        else if constexpr (std::is_integral_v<T>)
            return static_cast<std::int64_t>(value);
        else
            return Json::array_of(value);
    }
    static bool from(const Json& json, T& into) { return read_plain(json, into); }
    static std::string type() {
        if constexpr (std::is_same_v<T, bool>) return "`true` or `false`";
        if constexpr (std::is_same_v<T, std::string>) return "text";
        if constexpr (std::is_same_v<T, double>) return "number";
        return std::is_integral_v<T> ? "integer" : "list of: text";
    }
};

// A time after 1970 in RFC 3339; 0 is null.
struct Time {
    static Json to(base::UnixMicros value) { return value > 0 ? Json(base::render_rfc3339(value)) : Json(); }
    static bool from(const Json& json, base::UnixMicros& into);
    static std::string type() { return "time (RFC 3339)"; }
    static constexpr bool may_be_null = true;
};
// A time that is always written, also 1970.
struct Moment : Time {
    static Json to(base::UnixMicros value) { return base::render_rfc3339(value); }
    static constexpr bool may_be_null = false;
};

// What is JSON already.
struct AsIs {
    static Json to(const Json& json) { return json; }
    static bool from(const Json& json, Json& into) {
        into = json;
        return true;
    }
    static std::string type() { return "object"; }
};
// A document that its own tables have written.
template <Document (*Of)()>
struct Rendered : AsIs {
    static Document document() { return Of(); }
};

struct OnlyWritten {};
// What `make` says of the value, a function or a member of it. The type is that of another codec.
template <auto make, typename Typed>
struct Made : OnlyWritten {
    template <typename Value>
    static Json to(const Value& value) {
        return std::invoke(make, value);
    }
    static std::string type() { return Typed::type(); }
};

// A value of an enumeration by its table of words (lib/base/text/words.hpp).
template <const auto& Table>
struct WordOf {
    template <typename Value>
    static Json to(Value value) {
        return Table.text(value);
    }
    template <typename Value>
    static bool from(const Json& json, Value& into) {
        const auto found = Table.find(json.as_string() == nullptr ? std::string_view() : *json.as_string());
        if (found) into = *found;
        return found.has_value();
    }
    static std::string type() { return "one of " + Table.list(); }
};

// A record in a member.
template <const auto& Table>
struct Nested {
    template <typename Owner>
    static Json to(const Owner& owner) {
        return Table.write(owner);
    }
    template <typename Owner>
    static bool from(const Json& json, Owner& into, Fault& fault) {
        return Table.read(json, into, fault);
    }
    static std::string type() { return "object"; }
    static Document document() { return document_of<Table>(); }
};

template <typename Codec, typename T>
bool read_value(const Json& json, T& into, Fault& fault) {
    if constexpr (std::is_base_of_v<OnlyWritten, Codec>)
        return false;
    else if constexpr (requires { Codec::from(json, into, fault); })
        return Codec::from(json, into, fault);
    else
        return Codec::from(json, into);
}

// A list with one codec for all items, of at most `max_items` where it is read.
template <typename Codec, std::size_t max_items = SIZE_MAX>
struct ListOf {
    template <typename List>
    static Json to(const List& list) {
        Json::Array items;
        for (const auto& item : list)
            items.push_back(Codec::to(item));
        return Json(std::move(items));
    }
    template <typename List>
    static bool from(const Json& json, List& into, Fault& fault) {
        if (json.as_array() == nullptr || json.as_array()->size() > max_items) return false;
        List list;
        for (const Json& item : *json.as_array()) {
            typename List::value_type value{};
            if (!read_value<Codec>(item, value, fault)) return false;
            list.insert(list.end(), std::move(value));
        }
        into = std::move(list);
        return true;
    }
    static std::string type() {
        return "list of" + (max_items == SIZE_MAX ? "" : " at most " + std::to_string(max_items)) + ": " +
               Codec::type();
    }
    static Document document() requires requires { Codec::document(); }
    { return Codec::document(); }
    static constexpr bool is_list = true;
};

// The rest of this header binds a codec to a member of the owner.
template <auto... Path, typename Owner>
constexpr auto& part(Owner& owner) {
    return (owner.*....*Path);
}

template <typename T>
struct Optional : std::false_type {
    using Value = T;
};
template <typename T>
struct Optional<std::optional<T>> : std::true_type {
    using Value = T;
};

template <typename Codec, typename T>
Json write_value(const T& value) {
    if constexpr (Optional<T>::value)
        return value ? Codec::to(*value) : Json();
    else
        return Codec::to(value);
}

template <typename Codec, typename T>
bool read_member(const Json& json, T& into, Fault& fault) {
    if constexpr (!Optional<T>::value) return read_value<Codec>(json, into, fault);
    typename Optional<T>::Value value{};
    const bool is_read = read_value<Codec>(json, value, fault);
    if (is_read) into = std::move(value);
    return is_read;
}

template <typename T, typename Owner>
Owner owner_of(T Owner::*);

// The member that `Path` leads to; the owner itself without one.
template <typename Codec, typename Owner, auto... Path>
[[nodiscard]] constexpr Field<Owner> bind(std::string_view name, std::string_view meaning, Need need,
                                          Written written) {
    Member member{name,
                  meaning,
                  [](const void* owner) {
                      return write_value<Codec>(part<Path...>(*static_cast<const Owner*>(owner)));
                  },
                  [](const Json& json, void* owner, Fault& fault) {
                      return read_member<Codec>(json, part<Path...>(*static_cast<Owner*>(owner)), fault);
                  },
                  &Codec::type,
                  need,
                  written};
    using Value = std::remove_cvref_t<decltype(part<Path...>(std::declval<Owner&>()))>;
    if constexpr (requires { Codec::document(); }) member.document = &Codec::document;
    if constexpr (requires { Codec::is_list; }) member.is_list = true;
    if constexpr (requires { Codec::may_be_null; }) member.may_be_null = Codec::may_be_null;
    member.may_be_null |= Optional<Value>::value;
    return {member};
}

// A member by its path: `field<Time, &Task::asked>`, `field<&Task::request, &TaskRequest::index>`.
template <typename Codec, auto First, auto... Rest>
[[nodiscard]] constexpr auto field(std::string_view name, std::string_view meaning,
                                   Need need = Need::optional, Written written = Written::always) {
    return bind<Codec, decltype(owner_of(First)), First, Rest...>(name, meaning, need, written);
}

template <auto First, auto... Rest>
[[nodiscard]] constexpr auto field(std::string_view name, std::string_view meaning,
                                   Need need = Need::optional, Written written = Written::always) {
    using Owner = decltype(owner_of(First));
    using Value = std::remove_cvref_t<decltype(part<First, Rest...>(std::declval<Owner&>()))>;
    return field<Plain<typename Optional<Value>::Value>, First, Rest...>(name, meaning, need, written);
}

// A member that more than one member of the owner decides, or that is the owner itself.
template <typename Owner, typename Codec>
[[nodiscard]] constexpr Field<Owner> field_of(std::string_view name, std::string_view meaning,
                                              Need need = Need::optional, Written written = Written::always) {
    return bind<Codec, Owner>(name, meaning, need, written);
}

// A record with one member, which is the owner itself.
template <typename Owner, typename Codec = Plain<typename Optional<Owner>::Value>>
[[nodiscard]] constexpr Record<Owner, 1> record_of(std::string_view name, std::string_view meaning,
                                                   std::string_view format = {}) {
    return record<Owner>({field_of<Owner, Codec>(name, meaning)}, format);
}

}  // namespace wheelyard::io
