// The document, the table and the router know the same addresses.
#include "registry/http/api.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "lib/wire/documents.hpp"
#include "registry/api/operation.hpp"
#include "registry/http/routes.hpp"
#include "tests/registry/http/document_rows.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::http {
namespace {

using io::Document;

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

// "`wheelyard.token/1` or `wheelyard.device_login/1`"; of what is no JSON its type.
std::string render_answer(const Operation& operation) {
    if (operation.answer == nullptr) return "`" + std::string(operation.produces) + "`";
    std::vector<std::string> names;
    for (auto* of = operation.answer; of != nullptr; of = of().other)
        names.push_back("`" + std::string(of().name) + "`");
    return base::join(names, " or ");
}

void append_row(std::string& page, const Operation& operation, const std::string& right) {
    page.append("| `").append(operation.method).append(" ").append(operation.path);
    page.append("` | `").append(operation.id).append("` | ").append(operation.summary);
    page.append(" | ").append(right).append(" | ").append(render_arguments(operation));
    page.append(" | ").append(render_answer(operation)).append(" |\n");
}

std::string render_page() {
    constexpr std::string_view head =
        "\n| address | id | what it does | right | arguments | answer |\n|---|---|---|---|---|---|\n";
    std::string page =
        R"(# Operations

*Reference for authors of tools: every address of the server, who may use it, its arguments and its answer.*

<!-- WHEELYARD_UPDATE_GOLDEN=1 registry_tests writes this page of the rows in registry/api/; do not edit. -->

What the operations do is in [changes and audit](api.md), [tasks](task.md), [builds](builds.md) and
[the status of sites](site-status.md). `name=` is a parameter of the query, `name` a member of the body, whose
`format` comes first; `?` marks one that may be missing. An answer is one of [the documents](documents.md), or has the
type that is named; `pypi.`, `cyclonedx.` and `openapi.` mark those of other standards.

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

std::string_view standing_text(wire::Standing standing) {
    switch (standing) {
        case wire::Standing::stable:
            return "stable";
        case wire::Standing::kept:
            return "kept";
        case wire::Standing::cache:
            return "cache";
        case wire::Standing::earlier:
            return "earlier";
    }
    return {};
}

// "#wheelyardtoken1", as GitHub makes it of the heading.
std::string anchor_of(std::string_view name) {
    std::string anchor = "#";
    for (const char c : name)
        if (base::is_ascii_alnum(c) || c == '_' || c == '-') anchor += c;
    return anchor;
}

std::string title_of(std::string_view place) {
    place = place.substr(0, place.find('#'));
    return std::string(place.substr(place.rfind('/') == std::string_view::npos ? 0 : place.rfind('/') + 1));
}

// The documents of the answers, by name; also of operations without an address.
std::map<std::string_view, Document> answer_documents() {
    std::map<std::string_view, Document> documents;
    const auto add = [&](const Operation& operation) {
        for (auto* of = operation.answer; of != nullptr; of = of().other)
            documents.emplace(of().name, of());
    };
    for (const Operation& operation : page_operations())
        add(operation);
    for (const registry::OperationRow& row : registry::operation_rows())
        add(row.http);
    documents.emplace(wire::problem_document().name, wire::problem_document());
    return documents;
}

std::string render_documents() {
    std::string page =
        R"(# Documents

*Reference for authors of tools: every name of a JSON document of this farm, who writes it, and how long it holds.*

<!-- WHEELYARD_UPDATE_GOLDEN=1 registry_tests writes this page of tests/registry/http/document_rows.hpp and of the tables of the
     answers; do not edit. -->

The name is the member `format`, which comes first; of a file that is no JSON its first line begins with it. A name
means one document. [How a reader takes its members](records.md).

| word | means |
|---|---|
| stable | for programs of others, too: members are only added; what means something else gets another name |
| kept | of one program, whose later versions read it; no other program should |
| cache | of one program, and may go at any time: another version makes it again |
| earlier | no longer written, and still read |

## Names

| name | what it is | written by | | described in |
|---|---|---|---|---|
)";
    for (const wire::DocumentRow& row : wire::document::rows) {
        const bool is_here = row.place.empty();
        page.append("| `").append(row.name).append("` | ").append(row.what).append(" | ").append(row.writer);
        page.append(" | ").append(standing_text(row.standing)).append(" | [");
        page.append(is_here ? "below" : title_of(row.place)).append("](");
        page.append(is_here ? anchor_of(row.name) : std::string(row.place)).append(") |\n");
    }
    page +=
        "\n## Answers of the API\n\nThe schemas in `/api/v1/openapi.json` have the same members. "
        "[Operations](operations.md) say which has which answer.\n";
    for (const auto& [name, document] : answer_documents()) {
        const auto* const row = std::find_if(wire::document::rows.begin(), wire::document::rows.end(),
                                             [&](const auto& known) { return known.name == name; });
        const bool is_elsewhere = row != wire::document::rows.end() && !row->place.empty();
        if (is_elsewhere || (document.tables.empty() && !document.has_format())) continue;
        page.append("\n### ").append(name).append("\n\n");
        page += io::document_members({}, document.has_format() ? name : std::string_view());
        for (const std::span<const io::Member> table : document.tables)
            page += io::document_rows(table);
    }
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

TEST_CASE("every answer in JSON has a document, and every value of it a schema") {
    for (const Operation& operation : all_operations()) {
        CAPTURE(operation.id);
        CHECK((operation.answer != nullptr) == (operation.produces == "application/json"));
    }
    const auto document = io::parse_json(render_openapi(api)).value();
    const io::Json& schemas = *document.find("components")->find("schemas");
    CHECK(schemas.as_object()->size() > 30);
    for (const auto& [name, schema] : *schemas.as_object()) {
        CAPTURE(name);
        const io::Json* properties = schema.find("properties");
        REQUIRE(properties != nullptr);
        for (const auto& [member, value] : *properties->as_object()) {
            CAPTURE(member);
            CHECK(!value.as_object()->empty());
        }
    }
}

TEST_CASE("a document of the API has its row, and one that is described nowhere else its table") {
    const auto documents = answer_documents();
    for (const auto& [name, document] : documents) {
        CAPTURE(name);
        if (!document.has_format()) continue;
        CHECK(std::any_of(wire::document::rows.begin(), wire::document::rows.end(),
                          [&, &name = name](const auto& row) { return row.name == name; }));
    }
    for (const wire::DocumentRow& row : wire::document::rows) {
        CAPTURE(row.name);
        CHECK((!row.place.empty() || documents.contains(row.name)));
    }
    CHECK(std::is_sorted(wire::document::rows.begin(), wire::document::rows.end(),
                         [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST_CASE("the page of the documents has their rows and tables") {
    CHECK(test_support::page_difference("reference/documents.md", render_documents()) == "");
}

TEST_CASE("the page of the operations has their rows") {
    CHECK(test_support::page_difference("reference/operations.md", render_page()) == "");
}

}  // namespace wheelyard::http
