// The document, the table and the router know the same addresses.
#include "registry/http/openapi.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "registry/api/operation.hpp"
#include "registry/http/routes.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::http {
namespace {

const Operations api = registry::api_operations();

std::vector<Operation> all_operations() {
    std::vector<Operation> all(page_operations().begin(), page_operations().end());
    all.insert(all.end(), api.begin(), api.end());
    return all;
}

// An operation and each of its arguments in a line.
std::string render_compact() {
    std::string text;
    for (const Operation& operation : all_operations()) {
        text.append(operation.method).append(" ").append(operation.path).append("  ").append(operation.id);
        text += operation.needs_token ? "  token" : "";
        if (!operation.format.empty()) text.append("  ").append(operation.format);
        text.append("  -> ").append(operation.produces).append("\n");
        for (const Argument& argument : operation.arguments) {
            constexpr std::string_view places[] = {"path", "query", "body"};
            text.append("    ").append(places[static_cast<std::size_t>(argument.in)]).append(" ");
            text.append(argument.member.name).append(argument.is_needed ? "" : "?").append(": ");
            text.append(argument.member.type == nullptr ? "text" : argument.member.type()).append("\n");
        }
    }
    return text;
}

}  // namespace

TEST_CASE("every operation of the table is routed, and takes its method") {
    const std::string sha256(64, 'a');
    std::set<RouteKind> reached;
    for (const Operation& operation : all_operations()) {
        std::string target(operation.path);
        target = std::regex_replace(target, std::regex("\\{sha256\\}"), sha256);
        target = std::regex_replace(target, std::regex("\\{prefix\\}"), "aa");
        target = std::regex_replace(target, std::regex("\\{version\\}"), "1.0");
        target = std::regex_replace(target, std::regex("events/\\{file\\}"), "events/tail.tsv");
        target = std::regex_replace(target, std::regex("\\{document\\}"), "state.json");
        target = std::regex_replace(target, std::regex("\\{[a-z_]+\\}"), "name");
        CAPTURE(target);
        const auto route = parse_target(target, api);
        REQUIRE(route.has_value());
        CHECK(allowed_methods(*route, api).find(operation.method) != std::string::npos);
        if (route->kind == RouteKind::api) {
            CHECK(route->api_path == operation.path);
            const Operation* found = find_operation(api, operation.method, route->api_path);
            REQUIRE(found != nullptr);
            CHECK(found->id == operation.id);
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
    for (const Operation& operation : all_operations()) {
        CAPTURE(operation.id);
        CHECK(ids.insert(operation.id).second);
        CHECK(addresses.insert(std::string(operation.method) + " " + std::string(operation.path)).second);
    }
}

TEST_CASE("every JSON document that an operation takes is spelled out") {
    const auto document = io::parse_json(render_openapi(api)).value();
    for (const Operation& operation : all_operations()) {
        if (operation.body != BodyKind::json && operation.body != BodyKind::document) continue;
        if (!operation.path.starts_with("/api/")) continue;
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

TEST_CASE("every argument in a path is declared, and the other way round") {
    for (const Operation& operation : api) {
        CAPTURE(operation.id);
        std::size_t in_path = 0;
        for (const Argument& argument : operation.arguments) {
            if (argument.in != In::path) continue;
            ++in_path;
            CHECK(operation.path.find("{" + std::string(argument.member.name) + "}") != std::string::npos);
        }
        CHECK(in_path ==
              static_cast<std::size_t>(std::count(operation.path.begin(), operation.path.end(), '{')));
    }
}

TEST_CASE("the operations and their arguments are those that were reviewed") {
    CHECK(test_support::golden_difference("openapi.txt", render_compact()) == "");
}

}  // namespace wheelyard::http
