// The document, the table and the router know the same addresses.
#include "registry/http/openapi.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "registry/http/routes.hpp"

namespace wheelyard::http {

TEST_CASE("every operation of the table is routed, and takes its method") {
    const std::string sha256(64, 'a');
    std::set<RouteKind> reached;
    for (const Operation& operation : operations()) {
        std::string target(operation.path);
        target = std::regex_replace(target, std::regex("\\{sha256\\}"), sha256);
        target = std::regex_replace(target, std::regex("\\{prefix\\}"), "aa");
        target = std::regex_replace(target, std::regex("\\{version\\}"), "1.0");
        target = std::regex_replace(target, std::regex("events/\\{file\\}"), "events/tail.tsv");
        target = std::regex_replace(target, std::regex("\\{document\\}"), "state.json");
        target = std::regex_replace(target, std::regex("\\{[a-z_]+\\}"), "name");
        CAPTURE(target);
        const auto route = parse_target(target);
        REQUIRE(route.has_value());
        CHECK(allowed_methods(*route).find(operation.method) != std::string::npos);
        if (route->kind == RouteKind::api) {
            CHECK(route->api_path == operation.path);
            CHECK(find_operation(operation.method, route->api_path) == &operation);
        }
        reached.insert(route->kind);
    }
    for (std::size_t kind = 0; kind < route_kinds; ++kind) {
        const auto known = static_cast<RouteKind>(kind);
        if (known == RouteKind::redirect || known == RouteKind::api) continue;
        if (known == RouteKind::web_page || known == RouteKind::asset) continue;  // for people
        CAPTURE(name_of(known));
        CHECK(reached.contains(known));
    }
}

TEST_CASE("no two operations share an id or an address") {
    std::set<std::string_view> ids;
    std::set<std::string> addresses;
    for (const Operation& operation : operations()) {
        CAPTURE(operation.id);
        CHECK(ids.insert(operation.id).second);
        CHECK(addresses.insert(std::string(operation.method) + " " + std::string(operation.path)).second);
    }
}

TEST_CASE("every JSON document that an operation takes is spelled out") {
    const auto document = io::parse_json(render_openapi()).value();
    for (const Operation& operation : operations()) {
        const bool is_log = operation.id == "appendTaskLog" || operation.id == "appendBuildLog";
        if (!operation.takes_body || !operation.path.starts_with("/api/") || is_log) continue;
        CAPTURE(operation.id);
        const io::Json* at = &document;
        for (const std::string& name :
             {std::string("paths"), std::string(operation.path), base::ascii_lower(operation.method),
              std::string("requestBody"), std::string("content"), std::string("application/json"),
              std::string("schema"), std::string("properties"), std::string("format")}) {
            at = at->find(name);
            REQUIRE_MESSAGE(at != nullptr, name);
        }
        CHECK(at->string_or("const", "").starts_with("wheelyard."));
    }
}

TEST_CASE("registry/http/openapi.json is what the server says") {
    std::ifstream in(WHEELYARD_TEST_DATA "/../registry/http/openapi.json");
    std::stringstream text;
    text << in.rdbuf();
    const bool same = text.str() == render_openapi();
    CHECK_MESSAGE(same, "curl http://127.0.0.1:8080/api/v1/openapi.json > registry/http/openapi.json");
}

}  // namespace wheelyard::http
