// What the agent makes of each answer of the task service.
#include "builder/remote/task_client.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/wire/problem.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/loopback_server.hpp"

namespace wheelyard::builder {
namespace {

using base::ErrorKind;
using base::Recovery;

struct Service {
    ::wheelyard::testing::LoopbackAnswer answer;
    ::wheelyard::testing::LoopbackServer server{[this](const ::wheelyard::testing::LoopbackRequest& request) {
        const bool asks_address = request.target == "/api/v1/openapi.json" && answer.body.starts_with("{");
        return asks_address ? ::wheelyard::testing::LoopbackAnswer{.body = R"({"openapi":"3.1.0"})"} : answer;
    }};
    base::TempDir folder = *base::TempDir::make("task-client");
    base::ManualClock clock{0};
    io::HttpClient http, uploads;
    HttpTaskService tasks{http, uploads, clock, settings()};

    RegistrySettings settings() {
        testing::write(folder.path() / "token", "wy_secret\n");
        return {server.url(""), "main", folder.path() / "token"};
    }
};

std::string problem(const std::string& code) {
    return wire::render_problem(
        wire::make_problem(wire::Refusal::coded(409, code), "It fails", "It fails.", "t1", "do this"));
}

TEST_CASE("an answer ends a task, says that it is lost, or nothing: then the request is repeated") {
    struct Row {
        int status;
        std::string body;
        ErrorKind kind;
        Recovery recovery;
        std::string code;
    };
    const Row rows[] = {
        {409, problem("task.lost"), ErrorKind::lost, Recovery::retry, "task.lost"},
        {409, problem("task.cancelled"), ErrorKind::missing, Recovery::never, "task.cancelled"},
        {404, problem("task.no_such_task"), ErrorKind::missing, Recovery::never, "task.no_such_task"},
        // Until the token is replaced.
        {401, problem("auth.token_refused"), ErrorKind::unavailable, Recovery::retry, "task.unavailable"},
        {403, problem("auth.scope_refused"), ErrorKind::unavailable, Recovery::retry, "task.unavailable"},
        {503, problem("index.busy"), ErrorKind::unavailable, Recovery::retry, "task.unavailable"},
        // Not of a registry.
        {409, "<html>", ErrorKind::unauthorized, Recovery::person, "registry.address"},
        {404, "", ErrorKind::unauthorized, Recovery::person, "registry.address"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.status);
        CAPTURE(row.body);
        Service service;
        service.answer = {.status = row.status, .body = row.body};
        const auto ended = service.tasks.end("t1", {});
        REQUIRE_FALSE(ended.has_value());
        CHECK(ended.error().code == row.code);
        CHECK(ended.error().kind == row.kind);
        CHECK(ended.error().recovery == row.recovery);
        CHECK_FALSE(ended.error().advice.empty());
    }
}

TEST_CASE("other problems keep their code and advice") {
    Service service;
    service.answer = {.status = 400, .body = problem("task.document")};
    const auto ended = service.tasks.end("t1", {});
    REQUIRE_FALSE(ended.has_value());
    CHECK(ended.error().code == "task.document");
    CHECK(ended.error().advice == "do this");
}

TEST_CASE("a request names its task in the address, and its token in a header alone") {
    Service service;
    service.answer = {.body = "{}"};
    REQUIRE(service.tasks.end("t/1", {}));
    const auto requests = service.server.requests();
    REQUIRE(requests.size() == 1);
    CHECK(requests[0].method == "POST");
    CHECK(requests[0].target == "/api/v1/tasks/t%2F1/outcome");
    CHECK(requests[0].body == wire::render_outcome({}));
    CHECK(requests[0].header("authorization") == "Bearer wy_secret");
}

}  // namespace
}  // namespace wheelyard::builder
