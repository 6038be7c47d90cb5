// The words of Codec::type() say what a value is: those of record.hpp, and of codecs that begin like them.
#include "lib/io/schema.hpp"

#include <map>
#include <utility>

#include "lib/base/text/text.hpp"

namespace wheelyard::io {
namespace {

constexpr std::string_view list_word = "list of";

Json typed(const char* type) {
    return Json::object({{"type", type}});
}

// Of a value that is no object.
Json plain_schema(std::string_view type) {
    if (type.starts_with("time")) return Json::object({{"type", "string"}, {"format", "date-time"}});
    if (type == "object of texts")
        return Json::object({{"type", "object"}, {"additionalProperties", typed("string")}});
    if (type == "object of numbers")
        return Json::object({{"type", "object"}, {"additionalProperties", typed("integer")}});
    for (const auto& [word, name] :
         {std::pair{"text", "string"}, std::pair{"one of", "string"}, std::pair{"integer", "integer"},
          std::pair{"number", "number"}, std::pair{"`true`", "boolean"}, std::pair{"object", "object"}})
        if (type.starts_with(word)) return typed(name);
    return Json::object();
}

// The item of "list of at most 50: list of: text"; the type itself if it is no list.
std::string_view item_of(std::string_view type) {
    const std::size_t at = type.find(": ");
    return type.starts_with(list_word) && at != std::string_view::npos ? type.substr(at + 2) : type;
}

Json or_null(Json schema) {
    const Json* type = schema.find("type");
    if (type == nullptr || type->as_string() == nullptr || *type->as_string() == "object")
        return Json::object({{"anyOf", Json(Json::Array{std::move(schema), typed("null")})}});
    schema.set("type", Json(Json::Array{*type, "null"}));
    return schema;
}

// The members of an object, and of the objects in it that "job.memory_mib" names.
struct Properties {
    Json schemas = Json::object();
    Json required = Json::array();

    void add(std::string_view name, Json schema, bool is_always_there) {
        schemas.set(std::string(name), std::move(schema));
        if (is_always_there) required.push(name);
    }
    [[nodiscard]] Json object() && {
        Json schema = typed("object");
        schema.set("properties", std::move(schemas));
        if (!required.items().empty()) schema.set("required", std::move(required));
        return schema;
    }
};

// What is in a document that is kept as it was sent is kept likewise.
struct Writer {
    Json& shared;
    bool is_kept = false;

    [[nodiscard]] bool is_always_there(const Member& member) const {
        return is_kept ? member.need == Need::required : member.written == Written::always;
    }
    Json schema_of(const Member& member) const;
    Json schema_of(const Document& document) const;
    Json object_of(const Document& document) const;
};

Json Writer::object_of(const Document& document) const {
    Properties all;
    std::map<std::string, Properties> groups;
    if (document.has_format())
        all.add("format", Json::object({{"type", "string"}, {"const", document.name}}), true);
    for (const std::span<const Member> table : document.tables) {
        for (const Member& member : table) {
            const std::size_t dot = member.name.find('.');
            Properties& into =
                dot == std::string_view::npos ? all : groups[std::string(member.name.substr(0, dot))];
            into.add(dot == std::string_view::npos ? member.name : member.name.substr(dot + 1),
                     schema_of(member), is_always_there(member));
        }
    }
    for (auto& [name, group] : groups) {
        const bool is_there = !group.required.items().empty();
        all.add(name, std::move(group).object(), is_there);
    }
    return std::move(all).object();
}

Json Writer::schema_of(const Document& document) const {
    if (document.other != nullptr) {
        Document one = document;
        one.other = nullptr;
        return Json::object({{"anyOf", Json(Json::Array{schema_of(one), schema_of(document.other())})}});
    }
    if (document.name.empty()) return object_of(document);
    const std::string name = schema_name(document.name);
    if (shared.find(name) == nullptr) {
        shared.set(name, Json::object());  // a document may have others of its kind
        shared.set(name, Writer{shared, document.is_kept}.object_of(document));
    }
    return Json::object({{"$ref", "#/components/schemas/" + name}});
}

Json Writer::schema_of(const Member& member) const {
    const std::string whole = member.type == nullptr ? "text" : member.type();
    std::string_view type = whole;
    std::size_t lists = 0;
    for (; item_of(type) != type; ++lists)
        type = item_of(type);
    Json schema = member.document != nullptr ? schema_of(member.document()) : plain_schema(type);
    for (; lists > 0; --lists)
        schema = Json::object({{"type", "array"}, {"items", std::move(schema)}});
    // Readers take null as absent, and what is kept is shown as it was sent.
    const bool may_be_null = member.may_be_null || (is_kept && member.need != Need::required);
    return may_be_null ? or_null(std::move(schema)) : schema;
}

}  // namespace

std::string schema_name(std::string_view document) {
    document = document.substr(0, document.rfind('/'));
    if (document.starts_with("wheelyard.")) document.remove_prefix(document.find('.') + 1);
    std::string name;
    bool begins = true;
    for (const char c : document) {
        const bool is_small = c >= 'a' && c <= 'z';
        if (base::is_ascii_alnum(c)) name += begins && is_small ? static_cast<char>(c - 'a' + 'A') : c;
        begins = !base::is_ascii_alnum(c);
    }
    return name;
}

Json schema_of(const Document& document, Json& shared) {
    return Writer{shared}.schema_of(document);
}

Json schema_of(const Member& member, Json& shared) {
    return Writer{shared}.schema_of(member);
}

}  // namespace wheelyard::io
