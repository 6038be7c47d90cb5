#include "lib/wire/refusals.hpp"

#include <doctest/doctest.h>
#include <set>
#include <utility>

#include "lib/wire/problem.hpp"
#include "tests/support/golden.hpp"

using namespace wheelyard;
using wire::Refused;

TEST_CASE("the documents have every refusal of the table") {
    using test_support::part_difference;
    const auto difference = [](std::string_view page, std::string_view of, Refused one) {
        return part_difference(page, "refusals of " + std::string(of), wire::render_refusals(one));
    };
    CHECK(difference("reference/upload.md", "uploads", Refused::upload) == "");
    CHECK(difference("reference/api.md", "tokens", Refused::token) == "");
    CHECK(difference("reference/api.md", "indexes", Refused::index) == "");
    CHECK(difference("reference/api.md", "changes", Refused::change) == "");
    CHECK(difference("reference/api.md", "any request", Refused::any) == "");
    CHECK(difference("reference/api.md", "pages and files", Refused::page) == "");
    CHECK(difference("reference/task.md", "tasks", Refused::task) == "");
    CHECK(difference("reference/site-status.md", "reports", Refused::report) == "");
}

TEST_CASE("no two rows have the same code and status, and each says when it is refused") {
    std::set<std::pair<std::string_view, int>> seen;
    for (const wire::RefusalRow& row : wire::refused::rows) {
        CAPTURE(row.code);
        CHECK(seen.emplace(row.code, row.status).second);
        CHECK(row.status >= 400);
        CHECK_FALSE(row.when.empty());
    }
}

TEST_CASE("a refusal has the status of its row") {
    CHECK(wire::make_problem("upload.quota", "Too much", "Too much.").status == 403);
    CHECK(wire::make_problem({415, "upload.bad_form"}, "No form", "No form.").status == 415);
    CHECK(wire::make_problem("upload.quota", "Too much", "Too much.").code == "upload.quota");
    const auto error = wire::fail("task.cancelled", "The task was cancelled", "t1", "stop its job").value();
    CHECK(error.code == "task.cancelled");
    CHECK(error.kind == base::ErrorKind::conflict);
    CHECK(error.recovery == base::Recovery::never);
}

TEST_CASE("an error is refused with the status that its row has") {
    CHECK(wire::status_of(wire::fail("task.wish", "It fails").value().kind) == 400);
    CHECK(wire::status_of(wire::fail("auth.scope_refused", "It fails").value().kind) == 403);
    CHECK(wire::status_of(wire::fail("task.no_such_task", "It fails").value().kind) == 404);
    CHECK(wire::status_of(wire::fail({409, "index.archived"}, "It fails").value().kind) == 409);
    CHECK(wire::status_of(wire::fail("build.log_full", "It fails").value().kind) == 413);
    CHECK(wire::status_of(wire::fail("task.too_many", "It fails").value().kind) == 429);
    CHECK(wire::status_of(base::ErrorKind::busy) == 0);
}
