// The document, the table and the router know the same addresses.
#include "registry/http/api.hpp"

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

// `yank=` is in the query, `yank` in the body; those of the path are in the address.
std::string render_arguments(const Operation& operation) {
    std::vector<std::string> texts;
    if (!operation.format.empty()) texts.push_back("`" + std::string(operation.format) + "`");
    for (const Argument& argument : operation.arguments) {
        if (argument.in == In::path) continue;
        const std::string type = argument.member.type == nullptr ? "text" : argument.member.type();
        std::string text = "`" + std::string(argument.member.name);
        text.append(argument.in == In::query ? "=`" : "`").append(argument.is_needed ? "" : "?");
        texts.push_back(type == "text" ? text : text + " (" + type + ")");
    }
    return base::join(texts, ", ");
}

void append_row(std::string& page, const Operation& operation, const std::string& right) {
    page.append("| `").append(operation.method).append(" ").append(operation.path);
    page.append("` | `").append(operation.id).append("` | ").append(operation.summary);
    page.append(operation.produces == "application/json" ? ""
                                                         : " → `" + std::string(operation.produces) + "`");
    page.append(" | ").append(right).append(" | ").append(render_arguments(operation)).append(" |\n");
}

std::string render_page() {
    constexpr std::string_view head =
        "\n| address | id | what it does | right | arguments |\n|---|---|---|---|---|\n";
    std::string page =
        R"(# Operations

*Reference for authors of tools: every address of the server, who may use it, and its arguments.*

<!-- WHEELYARD_UPDATE_GOLDEN=1 registry_tests writes this page of the rows in registry/api/; do not edit. -->

What the operations do is in [changes and audit](api.md), [tasks](task.md), [builds](builds.md) and
[the status of sites](site-status.md). `name=` is a parameter of the query, `name` a member of the body, whose
`format` comes first; `?` marks one that may be missing. An answer is JSON unless `→` names another type.

## The API

An index that does not exist and a private one that the caller may not [read](reading.md) get one answer. Commands on
the server's machine have every right.
)";
    page.append(head);
    for (const registry::OperationRow& row : registry::operation_rows())
        if (row.right.callers != registry::Callers::local)
            append_row(page, row.http, registry::right_text(row.right));
    page.append("\n## Pages, files and uploads\n\nTheir rights are in [who may read](reading.md#rights).\n")
        .append(head);
    for (const Operation& operation : page_operations())
        append_row(page, operation, operation.needs_token ? "a token" : "");
    return page;
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

TEST_CASE("the page of the operations has their rows") {
    CHECK(test_support::page_difference("reference/operations.md", render_page()) == "");
}

}  // namespace wheelyard::http
