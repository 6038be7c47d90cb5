#include "builder/remote/refusal.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace wheelyard::builder;

TEST_CASE("the registry's problem codes on which the agent acts have a meaning, all others none") {
    for (const auto& [code, refusal] : {
             std::pair("upload.quarantined", Refusal::quarantined),
             std::pair("upload.wrong_offset", Refusal::wrong_offset),
             std::pair("upload.in_progress", Refusal::wrong_offset),
             std::pair("upload.not_resumable", Refusal::no_parts),
             std::pair("upload.too_many", Refusal::no_parts),
             std::pair("index.unknown", Refusal::no_index),
             std::pair("auth.token_refused", Refusal::bad_token),
             std::pair("auth.login_ended", Refusal::bad_token),
             std::pair("auth.scope_refused", Refusal::credentials),
             std::pair("task.lost", Refusal::task_lost),
             std::pair("task.cancelled", Refusal::no_task),
             std::pair("task.ended", Refusal::no_task),
             std::pair("task.no_such_task", Refusal::no_task),
             std::pair("build.unknown", Refusal::no_build),
             std::pair("build.log_gap", Refusal::log_gap),
             std::pair("build.log_full", Refusal::log_full),
             std::pair("request.not_found", Refusal::no_address),
             std::pair("request.method", Refusal::no_address),
             std::pair("request.operation", Refusal::no_address),
             std::pair("authors.missing", Refusal::other),
             std::pair("upload.name_taken", Refusal::other),
             std::pair("", Refusal::other),
         }) {
        CAPTURE(code);
        CHECK(refusal_of(code) == refusal);
    }
}

TEST_CASE("an answer's message is its detail, its title or its reason phrase, and never empty") {
    const auto message = [](const std::string& body, const std::string& reason) {
        wheelyard::io::HttpAnswer answer;
        answer.reason = reason;
        answer.body = body;
        return message_of(answer, wheelyard::wire::parse_problem(body));
    };
    CHECK(message(R"({"title":"Name taken","detail":"the name is taken"})", "Conflict") ==
          "the name is taken");
    CHECK(message(R"({"title":"Name taken"})", "Conflict") == "Name taken");
    CHECK(message("{}", "Conflict") == "Conflict");
    CHECK(message("<html>", "Bad Gateway") == "Bad Gateway");
    CHECK(message("<html>", "") == "no reason given");
}
