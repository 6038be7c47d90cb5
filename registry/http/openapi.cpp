// Converts the operations to OpenAPI: paths and methods, parameters and bodies from their arguments, answers
// from the tables of their documents.
#include "registry/http/api.hpp"

#include <string>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/io/schema.hpp"
#include "lib/wire/documents.hpp"

namespace wheelyard::http {

namespace {

using io::Json;

Json text_schema() {
    return Json::object({{"type", "string"}});
}

Json schema_of(const Argument& argument) {
    Json none = Json::object();  // an argument names no other document
    return io::schema_of(argument.member, none);
}

Json document_schema(const Operation& operation) {
    Json schema = Json::object({{"type", "object"}});
    Json properties = Json::object();
    Json needed = Json::array();
    if (!operation.format.empty()) {
        properties.set("format", Json::object({{"const", operation.format}}));
        needed.push("format");
    }
    for (const Argument& argument : operation.arguments) {
        if (argument.in != In::body) continue;
        properties.set(std::string(argument.member.name), schema_of(argument));
        if (argument.is_needed) needed.push(argument.member.name);
    }
    if (properties.as_object()->empty()) return schema;
    schema.set("properties", std::move(properties));
    schema.set("required", std::move(needed));
    return schema;
}

Json parameters_of(const Operation& operation) {
    Json parameters = Json::array();
    for (const std::string_view part : base::split(operation.path, '/')) {
        if (!part.starts_with('{')) continue;
        parameters.push(Json::object({{"name", part.substr(1, part.size() - 2)},
                                      {"in", "path"},
                                      {"required", true},
                                      {"schema", text_schema()}}));
    }
    for (const Argument& argument : operation.arguments) {
        if (argument.in == In::query)
            parameters.push(Json::object(
                {{"name", argument.member.name}, {"in", "query"}, {"schema", schema_of(argument)}}));
    }
    return parameters;
}

Json content(std::string_view type, Json schema) {
    return Json::object({{std::string(type), Json::object({{"schema", std::move(schema)}})}});
}

std::string_view type_of(BodyKind kind) {
    switch (kind) {
        case BodyKind::form:
            return "multipart/form-data";
        case BodyKind::bytes:
        case BodyKind::text:  // a log may have any bytes
            return "application/octet-stream";
        default:
            return "application/json";
    }
}

Json request_body(const Operation& operation) {
    const bool is_raw = operation.body == BodyKind::bytes || operation.body == BodyKind::text;
    const Json binary = Json::object({{"type", "string"}, {"format", "binary"}});
    return Json::object(
        {{"required", true},
         {"content", content(type_of(operation.body), is_raw ? binary : document_schema(operation))}});
}

Json answer_schema(const Operation& operation, Json& shared) {
    if (operation.produces != "application/json") return text_schema();
    return operation.answer == nullptr ? Json::object({{"type", "object"}})
                                       : io::schema_of(operation.answer(), shared);
}

Json render_operation(const Operation& operation, Json& shared) {
    const std::string status = std::to_string(operation.status);
    Json responses = Json::object(
        {{status, Json::object({{"description", operation.summary},
                                {"content", content(operation.produces, answer_schema(operation, shared))}})},
         {"default", Json::object({{"description", "A problem document"},
                                   {"content", content("application/problem+json",
                                                       io::schema_of(wire::problem_document(), shared))}})}});
    Json parameters = parameters_of(operation);
    if (operation.has_tag) {
        parameters.push(
            Json::object({{"name", "If-None-Match"}, {"in", "header"}, {"schema", text_schema()}}));
        const Json tag = Json::object({{"ETag", Json::object({{"schema", text_schema()}})}});
        Json found = *responses.find(status);
        found.set("headers", tag);
        responses.set(status, std::move(found));
        responses.set("304",
                      Json::object({{"description", "The client has this document"}, {"headers", tag}}));
    }
    Json rendered = Json::object({{"operationId", operation.id}, {"summary", operation.summary}});
    rendered.set("parameters", std::move(parameters));
    if (operation.body != BodyKind::none) rendered.set("requestBody", request_body(operation));
    if (operation.needs_token) {
        const Json none = Json::array();
        rendered.set("security",
                     Json(Json::Array{Json::object({{"bearer", none}}), Json::object({{"basic", none}})}));
    }
    rendered.set("responses", std::move(responses));
    return rendered;
}

}  // namespace

std::string render_openapi(Operations api) {
    Json paths = Json::object();
    Json schemas = Json::object();
    for (const Operations part : {page_operations(), api}) {
        for (const Operation& operation : part) {
            const Json* known = paths.find(operation.path);
            Json item = known == nullptr ? Json::object() : *known;
            item.set(base::ascii_lower(operation.method), render_operation(operation, schemas));
            paths.set(std::string(operation.path), std::move(item));
        }
    }
    const Json schemes = Json::object(
        {{"bearer", Json::object({{"type", "http"}, {"scheme", "bearer"}})},
         {"basic", Json::object({{"type", "http"},
                                 {"scheme", "basic"},
                                 {"description", "any user name; the token as the password"}})}});
    return Json::object(
               {{"openapi", "3.1.0"},
                {"info", Json::object({{"title", "wheelyard-registry"}, {"version", WHEELYARD_VERSION}})},
                // From the document's own address: below whatever path a proxy shows it (OpenAPI 3.1,
                // §4.8.5).
                {"servers", Json(Json::Array{Json::object({{"url", "../.."}})})},
                {"paths", std::move(paths)},
                {"components",
                 Json::object({{"schemas", std::move(schemas)}, {"securitySchemes", schemes}})}})
        .render_pretty();
}

}  // namespace wheelyard::http
