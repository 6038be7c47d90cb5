// Which kinds of errors the request is to blame for, and with which statuses they are answered.
#include "registry/intake/refusal.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using base::ErrorKind;

TEST_CASE("an error that the request is to blame for is answered with the status of its kind") {
    struct Row {
        ErrorKind kind;
        int status;
        const char* code;
    };
    for (const Row& row :
         {Row{ErrorKind::invalid, 400, "config.some"}, Row{ErrorKind::missing, 404, "file.unknown"},
          Row{ErrorKind::conflict, 409, "task.cancelled"}, Row{ErrorKind::too_large, 413, "build.log_full"},
          Row{ErrorKind::exhausted, 429, "task.too_many"}}) {
        CAPTURE(row.status);
        const auto problem = registry::problem_of_request({.code = row.code,
                                                           .sentence = "It does not fit",
                                                           .value = "x",
                                                           .advice = "wait",
                                                           .kind = row.kind});
        REQUIRE(problem.has_value());
        CHECK(problem->status == row.status);
        CHECK(problem->code == row.code);
        CHECK(problem->title == "It does not fit");
        CHECK(problem->detail == "It does not fit.");
        CHECK(problem->value == "x");
        CHECK(problem->advice == "wait");
    }
}

TEST_CASE("a sentence that ends with a question gets no full stop") {
    CHECK(registry::refuse("audit.query", "did you mean `title`?", "", "").value().detail ==
          "did you mean `title`?");
}

TEST_CASE("a failure of the server, or of what it stores, is not the request's") {
    for (const ErrorKind kind : {ErrorKind::other, ErrorKind::busy, ErrorKind::lost, ErrorKind::unavailable,
                                 ErrorKind::unreachable, ErrorKind::malformed})
        CHECK_FALSE(
            registry::problem_of_request({.code = "a.b", .sentence = "secret", .kind = kind}).has_value());
    // What the blob store lacks is no answer to who asked for a file, and an upstream's conflict is none to an upload.
    for (const ErrorKind kind :
         {ErrorKind::missing, ErrorKind::conflict, ErrorKind::too_large, ErrorKind::exhausted})
        CHECK_FALSE(registry::problem_of_request(
                        {.code = "s3.404", .sentence = "The blob store 10.0.0.5 refuses", .kind = kind})
                        .has_value());
    // What others refuse to the server is not, either; what the server refuses is.
    const auto refused = [](const char* code) {
        return registry::problem_of_request({.code = code, .sentence = "no", .kind = ErrorKind::refused});
    };
    CHECK_FALSE(refused("upstream.refused").has_value());
    REQUIRE(refused("upload.not_attested").has_value());
    CHECK(refused("upload.not_attested")->status == 403);
    CHECK_FALSE(registry::problem_of_request(base::fail_errno("open", "/srv/data", 2).value()).has_value());
}
