// Operations to OpenAPI: paths with their methods, parameters from the {names} in them, one schema for
// problems.
#include "registry/http/openapi.hpp"

#include "lib/base/text.hpp"
#include "lib/io/json.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::http {

namespace {

using io::Json;

Json text_schema() {
    return Json::object({{"type", "string"}});
}

Json parameters_of(std::string_view path) {
    Json parameters = Json::array();
    for (const std::string_view part : base::split(path, '/')) {
        if (!part.starts_with('{')) continue;
        parameters.push(Json::object({{"name", part.substr(1, part.size() - 2)},
                                      {"in", "path"},
                                      {"required", true},
                                      {"schema", text_schema()}}));
    }
    return parameters;
}

Json content(std::string_view type, Json schema) {
    return Json::object({{std::string(type), Json::object({{"schema", std::move(schema)}})}});
}

Json request_body(const Operation& operation) {
    std::string_view type = "application/json";
    if (operation.id == "upload") type = "multipart/form-data";
    if (operation.id == "appendUpload") type = "application/octet-stream";
    if (operation.id == "appendTaskLog") type = "text/plain";
    return Json::object({{"required", true}, {"content", content(type, Json::object({{"type", "object"}}))}});
}

Json render_operation(const Operation& operation) {
    const Json problem = Json::object({{"$ref", "#/components/schemas/Problem"}});
    Json schema =
        operation.produces == "application/json" ? Json::object({{"type", "object"}}) : text_schema();
    Json responses = Json::object(
        {{"200", Json::object({{"description", operation.summary},
                               {"content", content(operation.produces, std::move(schema))}})},
         {"default", Json::object({{"description", "A refusal, and why"},
                                   {"content", content("application/problem+json", problem)}})}});
    Json rendered = Json::object({{"operationId", operation.id}, {"summary", operation.summary}});
    rendered.set("parameters", parameters_of(operation.path));
    if (operation.takes_body) rendered.set("requestBody", request_body(operation));
    if (operation.needs_token) {
        const Json none = Json::array();
        rendered.set("security",
                     Json(Json::Array{Json::object({{"bearer", none}}), Json::object({{"basic", none}})}));
    }
    rendered.set("responses", std::move(responses));
    return rendered;
}

Json problem_schema() {
    Json properties = Json::object();
    for (const std::string_view name : {"type", "title", "detail", "code", "value", "advice"})
        properties.set(std::string(name), text_schema());
    properties.set("status", Json::object({{"type", "integer"}}));
    return Json::object({{"type", "object"},
                         {"description", "RFC 9457, with a stable code"},
                         {"required", Json(Json::Array{"title", "status", "code"})},
                         {"properties", std::move(properties)}});
}

}  // namespace

std::string render_openapi() {
    Json paths = Json::object();
    for (const Operation& operation : operations()) {
        const Json* known = paths.find(operation.path);
        Json item = known == nullptr ? Json::object() : *known;
        item.set(base::ascii_lower(operation.method), render_operation(operation));
        paths.set(std::string(operation.path), std::move(item));
    }
    const Json schemes = Json::object(
        {{"bearer", Json::object({{"type", "http"}, {"scheme", "bearer"}})},
         {"basic", Json::object({{"type", "http"},
                                 {"scheme", "basic"},
                                 {"description", "any user name, the token as the password"}})}});
    return Json::object(
               {{"openapi", "3.1.0"},
                {"info", Json::object({{"title", "wheelyard-registry"}, {"version", WHEELYARD_VERSION}})},
                {"paths", std::move(paths)},
                {"components", Json::object({{"schemas", Json::object({{"Problem", problem_schema()}})},
                                             {"securitySchemes", schemes}})}})
        .render_pretty();
}

}  // namespace wheelyard::http
