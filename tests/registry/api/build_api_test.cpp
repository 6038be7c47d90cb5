// Who sends the log of a build, and who reads it.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/base/text/text.hpp"
#include "lib/io/json.hpp"
#include "tests/registry/upload_fixture.hpp"
#include "tests/store/tasks/build_report.hpp"

using namespace wheelyard;
using test_support::RegistryFixture;

namespace {

constexpr base::UnixMicros a_minute = 60'000'000;

struct BuildFixture : RegistryFixture {
    std::unique_ptr<tasks::BuildStore> builds = databases.builds({}, clock).value();
    registry::Api api{parts(nullptr, builds.get())};
    std::string agent = make_token("agent", {"main"}, {"*"}, {"upload"});

    registry::IndexConfig& index() { return config.indexes.front(); }
    void report(const std::vector<std::string>& running, const std::vector<std::string>& finished = {}) {
        const base::UnixMicros now = clock.now();
        REQUIRE(builds->note(test_support::build_report(now, running, finished, now - 7 * a_minute, now)));
    }
    wire::Answered<http::ApiReply> ask(const std::string& operation, const std::string& who,
                                       const std::string& id = "w1", const std::string& query = {},
                                       const std::string& body = {}, const std::string& name = "main") {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        request.parameters = {{"index", name}, {"site", "bede"}, {"build", id}};
        if (!who.empty()) request.authorization = "Bearer " + who;
        request.query = query;
        request.body = body;
        return api.answer(request);
    }
    std::string answer(const std::string& operation, const std::string& who, const std::string& id = "w1",
                       const std::string& query = {}, const std::string& body = {},
                       const std::string& name = "main") {
        const auto answered = ask(operation, who, id, query, body, name);
        if (!answered) return std::to_string(answered.error().status) + " " + answered.error().code;
        return answered->text.value_or("200");
    }
    io::Json document(const std::string& operation, const std::string& who, const std::string& id = "w1") {
        const auto answered = ask(operation, who, id);
        REQUIRE_MESSAGE(answered.has_value(), answered.error().detail);
        return io::parse_json(answered->json).value();
    }
};

}  // namespace

TEST_CASE("who may report builds sends their logs, and no job of a publisher") {
    BuildFixture farm;
    farm.report({"w1"});
    CHECK(farm.answer("appendBuildLog", farm.agent, "w1", "offset=0", "one\n") == "200");
    farm.tokens->recognise_publishers({"torch"});  // a job's token only uploads
    CHECK(farm.answer(
              "appendBuildLog",
              farm.make_token("publisher:torch", {"main"}, {"*"}, {"upload"}, farm.clock.now() + a_minute),
              "w1", "offset=0", "x") == "403 site.scope");
    CHECK(farm.answer("appendBuildLog", farm.agent, "w1", "offset=0", "x", "nowhere") == "404 index.unknown");
    CHECK(farm.answer("readBuildLog", "") == "one\n");
    CHECK(farm.answer("readBuildLog", "", "w1", "offset=2") == "e\n");
}

TEST_CASE("everybody sees state and cause; with read_logs = \"token\" only a token with `read` the log") {
    BuildFixture farm;
    farm.report({"w1"});
    CHECK(farm.answer("appendBuildLog", farm.agent, "w1", "offset=0", "one\n") == "200");
    farm.index().are_logs_for_tokens = true;
    const io::Json public_view = farm.document("showBuild", "");
    CHECK(public_view.string_or("state", "") == "running");
    CHECK(public_view.find("may_read_log")->render() == "false");
    CHECK(public_view.find("log_bytes") == nullptr);
    CHECK(farm.answer("readBuildLog", "") == "401 auth.missing");
    CHECK(farm.answer("readBuildLog", farm.agent) == "403 auth.scope_refused");
    const std::string reader = farm.make_token("reader", {"main"}, {"*"}, {"read"});
    CHECK(farm.answer("readBuildLog", reader) == "one\n");
    CHECK(farm.document("showBuild", reader).find("log_bytes")->render() == "4");
    const std::string elsewhere = farm.make_token("elsewhere", {"other"}, {"*"}, {"read"});
    CHECK(farm.answer("readBuildLog", elsewhere) == "403 auth.scope_refused");
}

TEST_CASE("with read_logs = \"token\" a public cause has no line of the log") {
    BuildFixture farm;
    status::SiteReport report;
    report.site = "bede";
    report.index = "main";
    report.time = farm.clock.now();
    for (const char* id : {"w1", "w2"})
        report.failures.push_back({.id = id,
                                   .package = "torch",
                                   .version = "2.4.0",
                                   .python = "3.12",
                                   .phase = "build",
                                   .began = farm.clock.now() - a_minute,
                                   .ended = farm.clock.now(),
                                   .cause = "The job failed [error: in secret_kernel.cu]",
                                   .remedy = "ask"});
    REQUIRE(farm.builds->note(report));
    CHECK(farm.document("showBuild", "").string_or("cause", "") ==
          "The job failed [error: in secret_kernel.cu]");
    farm.index().are_logs_for_tokens = true;
    const std::string reader = farm.make_token("reader", {"main"}, {"*"}, {"read"});
    for (const char* operation : {"showBuild", "listBuilds"}) {
        const std::string seen = farm.document(operation, "").render();
        CHECK(seen.find("The job failed") != std::string::npos);
        CHECK(seen.find("secret_kernel") == std::string::npos);  // nor of the other builds of its cell
        CHECK(farm.document(operation, reader).render().find("secret_kernel") != std::string::npos);
    }
}

TEST_CASE("of a private index a reader of a project sees its builds, and no list") {
    BuildFixture farm;
    farm.report({"w1"});
    farm.index().is_private = true;
    const std::string reader = farm.make_token("reader", {"main"}, {"torch"}, {"read"});
    CHECK(farm.answer("showBuild", reader) == "200");
    CHECK(farm.answer("listBuilds", reader) == "404 index.unknown");  // it names all projects
    CHECK(farm.answer("showBuild", farm.make_token("six", {"main"}, {"six"}, {"read"})) ==
          "404 index.unknown");
}

TEST_CASE("a build that runs is expected to take as long as those of its package did") {
    BuildFixture farm;
    farm.report({}, {"w0"});
    farm.report({"w1"});
    const io::Json build = farm.document("showBuild", "");
    CHECK(build.string_or("expected_end", "") == base::render_rfc3339(farm.clock.now() + 7 * a_minute));
    REQUIRE(build.items("others").size() == 1);
    CHECK(build.items("others").front().string_or("id", "") == "w0");
    CHECK(farm.document("showBuild", "", "w0").find("expected_end") == nullptr);
    CHECK(farm.document("listBuilds", "").items("builds").size() == 2);
}

TEST_CASE("a build names the requests for its wheel that were there when it began, the newest first") {
    BuildFixture farm;
    const auto queue = farm.databases.tasks({}, farm.clock).value();
    registry::Api api{farm.parts(queue.get(), farm.builds.get())};
    const auto asked = [&](const std::string& version, const std::string& python,
                           const std::string& package = "torch") {
        farm.clock.sleep_ms(1'000);
        return queue->add({"main", package, version, python, ""}, "anna").value().task.id;
    };
    const std::string exact = asked("2.4.0", "3.12");
    asked("2.4.0", "3.11");
    asked("2.5.0", "3.12");
    asked("2.4.0", "3.12", "numpy");
    REQUIRE(queue->cancel(exact, "anna", "twice"));
    const std::string again = asked("2.4.0", "3.12");
    REQUIRE(queue->cancel(again, "anna", "twice"));
    farm.clock.sleep_ms(1'000);
    farm.report({"w1"});
    asked("2.4.0", "3.12");  // this one came later
    http::ApiRequest request{.request_id = "r1", .operation = "showBuild"};
    request.parameters = {{"index", "main"}, {"site", "bede"}, {"build", "w1"}};
    const auto answered = api.answer(request);
    REQUIRE(answered.has_value());
    const io::Json build = io::parse_json(answered->json).value();
    std::vector<std::string> named;
    for (const io::Json& one : build.items("requests"))
        named.push_back(one.string_or("id", "") + " " + one.string_or("state", ""));
    CHECK(named == std::vector<std::string>{again + " cancelled", exact + " cancelled"});
    CHECK(answered->json.find("anna") == std::string::npos);
}
