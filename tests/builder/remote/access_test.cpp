// What each answer of a registry means for the packages that a site wants to upload.
#include "builder/remote/access.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

const std::vector<std::string> packages = {"demo", "torch"};

io::HttpAnswer answer(int status, const std::string& body) {
    io::HttpAnswer made;
    made.status = status;
    made.body = body;
    return made;
}

std::string access(const std::string& actions, const std::string& projects) {
    return R"({"format":"wheelyard.access/1","token":"wy_1","actions":[)" + actions + R"(],"projects":[)" +
           projects + "]}";
}

std::string problem(const std::string& code) {
    return R"({"type":"about:blank","status":404,"title":"t","detail":"d","code":")" + code + "\"}";
}

TEST_CASE("only an answer that rules an upload out refuses a package") {
    struct Row {
        int status;
        std::string body;
        std::vector<std::string> refused;
        std::string code;
    };
    const std::vector<Row> rows = {
        {200, access("\"upload\"", "\"*\""), {}, ""},
        {200, access("\"upload\"", "\"demo\",\"torch\""), {}, ""},
        {200, access("\"upload\"", "\"demo\""), {"torch"}, "upload.not_allowed"},
        {200, access("\"build\"", "\"*\""), packages, "upload.not_allowed"},
        {200, access("", "\"*\""), packages, "upload.not_allowed"},
        {404, problem("index.unknown"), packages, "upload.no_index"},
        {403, problem("auth.token_refused"), packages, "upload.not_allowed"},
        {401, problem("auth.missing"), packages, "upload.not_allowed"},
        // An older registry, another server, a proxy, an outage: the upload decides.
        {404, problem("request.not_found"), {}, ""},
        {404, "<html>", {}, ""},
        {401, "<html>", {}, ""},
        {503, problem("auth.unavailable"), {}, ""},
        {200, "<html>", {}, ""},
        {200, "{}", {}, ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.status);
        CAPTURE(row.body);
        const auto refused = judge_access_answer(answer(row.status, row.body), "main", packages).refused;
        CHECK(refused.size() == row.refused.size());
        for (const auto& package : row.refused) {
            REQUIRE(refused.contains(package));
            CHECK(refused.at(package).code == row.code);
            CHECK(!refused.at(package).advice.empty());
        }
    }
}

TEST_CASE("a token claims tasks if it may build and the registry knows it, and no answer is no refusal") {
    const auto refused = [](int status, const std::string& body) {
        const auto error = judge_access_answer(answer(status, body), "main", {}).refused_claims;
        return error ? error->code : "";
    };
    CHECK(refused(200, access("\"build\"", "\"*\"")) == "");
    CHECK(refused(200, access("\"upload\"", "\"*\"")) == "task.not_allowed");
    CHECK(refused(403, problem("auth.token_refused")) == "upload.not_allowed");
    CHECK(refused(404, problem("index.unknown")) == "upload.no_index");
    CHECK(refused(503, problem("auth.unavailable")) == "");
    CHECK(refused(200, "{}") == "");
}

TEST_CASE("the store is the one that the answer names, none yet, or not said") {
    const auto store = [](const std::string& member) {
        std::string body = access("", "\"*\"");
        body.insert(body.size() - 1, member);
        return judge_access_answer(answer(200, body), "main", packages).store;
    };
    CHECK(store(R"(,"store":"5eed")") == "5eed");
    CHECK(store(R"(,"store":null)") == "");
    CHECK_FALSE(store("").has_value());  // a registry before 0.1.0's last
    CHECK_FALSE(judge_access_answer(answer(503, "{}"), "main", packages).store.has_value());
}

TEST_CASE("a token file that cannot be read refuses every package, without a request") {
    io::HttpClient http;
    const RegistrySettings registry{"http://127.0.0.1:1", "main", "/nonexistent/token"};
    const auto refused = ask_access(http, registry, packages).refused;
    REQUIRE(refused.size() == packages.size());
    CHECK(refused.at("demo").code == "upload.token_file");
    CHECK_FALSE(ask_access(http, registry, {}).refused_claims.has_value());  // not asked
    RegistrySettings claims = registry;
    claims.claim_tasks = "any";
    CHECK(ask_access(http, claims, {}).refused_claims->code == "upload.token_file");
}

}  // namespace
}  // namespace wheelyard::builder
