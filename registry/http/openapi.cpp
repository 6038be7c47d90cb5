// Converts the operations to OpenAPI: paths and methods, parameters from the {names} in paths, and one schema
// for problems.
#include "registry/http/openapi.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "registry/http/api.hpp"

namespace wheelyard::http {

namespace {

using io::Json;

// Inputs of operations besides their path. An item is "name", "name:type" or with a final `?` for optional;
// the default type is string; `objects` is an array of them. Query parameters are always optional.
struct Input {
    std::string_view operation;
    std::string_view query = {};
    std::string_view format = {};  // the `format` member of the body's JSON
    std::string_view members = {};
};

constexpr std::string_view change = "wheelyard.change/1";
constexpr std::array inputs{
    Input{"listProjects", "format"},
    Input{"listFiles", "format"},
    Input{"yankFile", "", change, "reason"},
    Input{"unyankFile", "", change, "reason?"},
    Input{"deleteFile", "", change, "reason"},
    Input{"quarantineFile", "", change, "reason"},
    Input{"releaseFile", "", change, "reason"},
    Input{"pinFile", "", change, "reason?"},
    Input{"unpinFile", "", change, "reason?"},
    Input{"promoteFile", "", change, "to with:array? from_upstream:boolean? reason?"},
    Input{"setProjectStatus", "", change, "status reason?"},
    Input{"applyRetention", "", change, "keep:integer project? reason? dry_run:boolean?"},
    Input{"collectBlobs", "", change, "grace_ms:integer? reason? dry_run:boolean?"},
    Input{"createIndex", "", "wheelyard.index_change/1", "keys:object dry_run:boolean?"},
    Input{"setIndex", "", "wheelyard.index_change/1", "keys:object revision? dry_run:boolean?"},
    Input{"listIndexFiles", "state after"},
    Input{"judgeWithTorch", "torch"},
    Input{"findContaining", "component version after"},
    Input{"readAudit",
          "after:integer before:integer newest:integer who action what index project filename from until"},
    Input{"createToken", "", "wheelyard.token_request/1",
          "name indexes:array projects:array? actions:array? expires?"},
    Input{"revokeToken", "", change, "reason?"},
    Input{"renewAgent", "", "wheelyard.agent_renewal/1", "site credential next"},
    Input{"beginLogin", "", "wheelyard.login/1", "secret purpose?"},
    Input{"finishLogin", "", "wheelyard.login/1", "code state iss? secret"},
    Input{"beginDeviceLogin", "", "wheelyard.login/1", "secret"},
    Input{"pollDeviceLogin", "", "wheelyard.login/1", "state secret"},
    Input{"mintToken", "", "", "token"},
    Input{"mintTokenOfGithub", "", "", "token"},
    Input{"burnToken", "", "", "token"},
    Input{"reportSite", "", "wheelyard.site/1",
          "site index time program? next_tick? cut:boolean? pythons:array? nodes:array? cells:array? "
          "attempts:array? failures:array? held_queues:array?"},
    Input{"listBuilds", "package"},
    Input{"readBuildLog", "offset:integer"},
    Input{"appendBuildLog", "offset:integer"},
    Input{"askForWheel", "", "wheelyard.task/1", "index package version python accelerator?"},
    Input{"readRequestLog", "offset:integer"},
    Input{"addTask", "", "wheelyard.task/1", "index package version python accelerator? source:object?"},
    Input{"addTasks", "", "wheelyard.wishes/1", "tasks:objects"},
    Input{"listTasks", "index state after limit:integer"},
    Input{
        "claimTask", "", "wheelyard.claim/1",
        "claim index agent pythons:array accelerators:array packages:array? task? uploaded_sources:object?"},
    Input{"cancelTask", "", change, "reason?"},
    Input{"approveTask", "", change, "reason?"},
    Input{"rejectTask", "", change, "reason?"},
    Input{"renewLease", "", "wheelyard.lease/1", "claim"},
    Input{"appendTaskLog", "claim offset:integer"},
    Input{"readTaskLog", "offset:integer attempt:integer"},
    Input{"endTask", "", "wheelyard.task_end/1", "claim outcome:object"},
};

Input input_of(const Operation& operation) {
    const auto* found = std::find_if(inputs.begin(), inputs.end(),
                                     [&](const Input& input) { return input.operation == operation.id; });
    return found == inputs.end() ? Input{operation.id} : *found;
}

struct Member {
    std::string name;
    std::string type;
    bool is_needed = true;
};

std::vector<Member> members_of(std::string_view words) {
    std::vector<Member> members;
    for (std::string_view word : base::split(words, ' ')) {
        if (word.empty()) continue;
        const bool is_needed = !word.ends_with('?');
        if (!is_needed) word.remove_suffix(1);
        const auto colon = word.find(':');
        const bool is_text = colon == std::string_view::npos;
        members.push_back({std::string(word.substr(0, colon)),
                           is_text ? "string" : std::string(word.substr(colon + 1)), is_needed});
    }
    return members;
}

Json text_schema() {
    return Json::object({{"type", "string"}});
}

Json schema_of(const Member& member) {
    if (member.type == "objects")
        return Json::object({{"type", "array"}, {"items", Json::object({{"type", "object"}})}});
    Json schema = Json::object({{"type", member.type}});
    if (member.type == "array") schema.set("items", text_schema());
    return schema;
}

Json document_schema(const Input& input) {
    Json schema = Json::object({{"type", "object"}});
    if (input.format.empty() && input.members.empty()) return schema;
    Json properties = Json::object();
    Json needed = Json::array();
    if (!input.format.empty()) {
        properties.set("format", Json::object({{"const", input.format}}));
        needed.push("format");
    }
    for (const Member& member : members_of(input.members)) {
        properties.set(member.name, schema_of(member));
        if (member.is_needed) needed.push(member.name);
    }
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
    for (const Member& member : members_of(input_of(operation).query))
        parameters.push(
            Json::object({{"name", member.name}, {"in", "query"}, {"schema", schema_of(member)}}));
    return parameters;
}

Json content(std::string_view type, Json schema) {
    return Json::object({{std::string(type), Json::object({{"schema", std::move(schema)}})}});
}

Json request_body(const Operation& operation) {
    std::string_view type = "application/json";
    Json schema = document_schema(input_of(operation));
    if (operation.id == "upload") type = "multipart/form-data";
    if (operation.id == "appendUpload") type = "application/octet-stream";
    const bool is_log = operation.id == "appendTaskLog" || operation.id == "appendBuildLog";
    if (is_log) type = "text/plain";
    if (operation.id == "appendUpload" || is_log) schema = text_schema();
    return Json::object({{"required", true}, {"content", content(type, std::move(schema))}});
}

Json render_operation(const Operation& operation) {
    const Json problem = Json::object({{"$ref", "#/components/schemas/Problem"}});
    Json schema =
        operation.produces == "application/json" ? Json::object({{"type", "object"}}) : text_schema();
    Json responses = Json::object(
        {{"200", Json::object({{"description", operation.summary},
                               {"content", content(operation.produces, std::move(schema))}})},
         {"default", Json::object({{"description", "A problem document"},
                                   {"content", content("application/problem+json", problem)}})}});
    Json parameters = parameters_of(operation);
    if (operation.id == "readSbom") {  // ApiReply::tag
        parameters.push(
            Json::object({{"name", "If-None-Match"}, {"in", "header"}, {"schema", text_schema()}}));
        const Json tag = Json::object({{"ETag", Json::object({{"schema", text_schema()}})}});
        Json found = *responses.find("200");
        found.set("headers", tag);
        responses.set("200", std::move(found));
        responses.set("304",
                      Json::object({{"description", "The client has this document"}, {"headers", tag}}));
    }
    Json rendered = Json::object({{"operationId", operation.id}, {"summary", operation.summary}});
    rendered.set("parameters", std::move(parameters));
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
                                 {"description", "any user name; the token as the password"}})}});
    return Json::object(
               {{"openapi", "3.1.0"},
                {"info", Json::object({{"title", "wheelyard-registry"}, {"version", WHEELYARD_VERSION}})},
                // From the document's own address: below whatever path a proxy shows it (OpenAPI 3.1, §4.8.5).
                {"servers", Json(Json::Array{Json::object({{"url", "../.."}})})},
                {"paths", std::move(paths)},
                {"components", Json::object({{"schemas", Json::object({{"Problem", problem_schema()}})},
                                             {"securitySchemes", schemes}})}})
        .render_pretty();
}

}  // namespace wheelyard::http
