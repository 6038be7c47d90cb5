// The task service's decisions: who may, with which status the rest is refused, and what a site's token
// uploads.
#include "registry/api/task_api.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "lib/store/tasks/limits.hpp"
#include "lib/wire/task.hpp"
#include "registry/access/agents.hpp"
#include "registry/api/api.hpp"
#include "tests/registry/upload_fixture.hpp"
#include "tests/support/sdist_writer.hpp"

using namespace wheelyard;
using test_support::Form;
using test_support::RegistryFixture;
using test_support::WheelWriter;

namespace {

constexpr std::int64_t lease_s = 600;

struct TaskFixture : RegistryFixture {
    std::unique_ptr<tasks::TaskStore> queue = databases.tasks({lease_s, 3}, clock).value();
    std::unique_ptr<tasks::BuildStore> builds = databases.builds({}, clock).value();
    registry::Api api{{.config = config,
                       .store = databases,
                       .blobs = store,
                       .tokens = *tokens,
                       .writer = writer,
                       .pages = pages,
                       .clock = clock,
                       .tasks = queue.get(),
                       .builds = builds.get()}};
    registry::Uploads uploads{{.config = config,
                               .blobs = store,
                               .room = room,
                               .tokens = *tokens,
                               .writer = writer,
                               .pages = pages,
                               .clock = clock,
                               .inspect_threads = 1,
                               .tasks = queue.get()}};
    std::string asker = add_actor("anna", {"task"});
    std::string builder = add_actor("bede-agent", {"build"}, {"main"});
    std::string answered;  // the last body

    TaskFixture() { config.indexes.front().staging = "other"; }
    std::string add_actor(const std::string& name, const std::vector<std::string>& actions,
                          const std::vector<std::string>& indexes = {"*"},
                          const std::vector<std::string>& projects = {"*"}) {
        return make_token(name, indexes, projects, actions);
    }
    // A token of an agent that enrolled.
    std::string add_enrolled(const std::string& site) {
        const registry::TokenText text = registry::make_token_text();
        const std::string name = registry::agent_name(site);
        REQUIRE(cli.add_token({.id = text.id,
                               .secret_sha256 = registry::hash_token_secret(text.secret),
                               .name = name,
                               .indexes = {"main"},
                               .projects = {"*"},
                               .actions = {"build"},
                               .created_by = name}));
        return text.text();
    }
    // "200" or "403 auth.scope_refused".
    std::string ask(const std::string& token_text, const std::string& operation, const std::string& body,
                    const std::string& task = {}, const std::string& query = {}) {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        if (!task.empty()) request.parameters.emplace("task", task);
        request.query = query;
        request.authorization = "Bearer " + token_text;
        request.body = body;
        const auto answer = api.answer(request);
        answered = answer ? answer->text.value_or(answer->json) : wire::render_problem(answer.error());
        return answer ? "200" : std::to_string(answer.error().status) + " " + answer.error().code;
    }
    static std::string body_of(const std::string& package = "six", const std::string& index = "main") {
        return wire::render_task_request({index, package, "1.16.0", "3.11", ""});
    }
    std::string add(const std::string& body = body_of()) {
        REQUIRE(ask(asker, "addTask", body) == "200");
        return wire::parse_task(answered).value().id;
    }
    static std::string offer(const std::string& agent = "bede.login1",
                             const std::vector<std::string>& tasks = {}, const std::string& index = "main") {
        return wire::render_claim({index, agent, {"3.11"}, {"cpu"}, {}, tasks, 1});
    }
    wire::Claimed claim(const std::vector<std::string>& tasks = {}) {
        REQUIRE(ask(builder, "claimTask", offer("bede.login1", tasks)) == "200");
        return wire::parse_claimed(answered).value();
    }
    static std::string end(bool done, const Form& form, const std::string& site = "bede") {
        wire::Outcome outcome;
        outcome.attempt = "w1";
        outcome.site = site;
        outcome.cell = "six-1.16.0-cp311";
        outcome.done = done;
        outcome.wheel.filename = form.filename;
        outcome.wheel.sha256 = base::sha256_hex(form.content);
        return wire::render_outcome(outcome);
    }
    // The site reports that it builds the wheel, and sends this log.
    void report(const std::string& site, const std::string& build, const std::string& log) {
        clock.sleep_ms(1);
        status::SiteReport report;
        report.site = site;
        report.index = "main";
        report.time = clock.now();
        status::BuildReport attempt;
        attempt.id = build;
        attempt.package = "six";
        attempt.version = "1.16.0";
        attempt.python = "3.11";
        attempt.state = "running";
        attempt.began = clock.now();
        report.attempts = {attempt};
        REQUIRE(builds->note(report));
        REQUIRE(builds->append_log({"main", site, build}, 0, log));
    }
    // "200", or status and code.
    std::string upload(const std::string& token_text, Form form, const std::string& index,
                       const std::string& task = {}) {
        if (!task.empty()) form.set("wheelyard_task", task);
        auto to = head(index);
        to.authorization = "Bearer " + token_text;
        auto request = uploads.begin(to);
        if (!request) return std::to_string(request.error().status) + " " + request.error().code;
        if (const auto fed = (*request)->feed(form.body()); !fed)
            return std::to_string(fed.error().status) + " " + fed.error().code;
        const auto done = (*request)->finish();
        return done ? "200" : std::to_string(done.error().status) + " " + done.error().code;
    }
};

}  // namespace

TEST_CASE("who asks needs the action `task`, who claims needs `build`, both for the index and the project") {
    TaskFixture fixture;
    CHECK(fixture.ask("", "addTask", fixture.body_of()) == "401 auth.missing");
    CHECK(fixture.ask(fixture.builder, "addTask", fixture.body_of()) == "403 auth.scope_refused");
    const std::string narrow = fixture.add_actor("narrow", {"task"}, {"main"}, {"six"});
    CHECK(fixture.ask(narrow, "addTask", fixture.body_of()) == "200");
    CHECK(fixture.ask(narrow, "addTask", fixture.body_of("seven")) == "403 auth.scope_refused");
    CHECK(fixture.ask(narrow, "addTask", fixture.body_of("six", "other")) == "403 auth.scope_refused");
    CHECK(fixture.ask(fixture.asker, "addTask", fixture.body_of("six", "nowhere")) == "404 index.unknown");
    CHECK(fixture.ask(fixture.asker, "addTask", "{}") == "400 task.body");
    CHECK(fixture.ask(fixture.asker, "claimTask", fixture.offer()) == "403 auth.scope_refused");
}

TEST_CASE("an agent that enrolled claims as SITE.HOST, where what stands before the last dot is its site") {
    struct Row {
        std::string site;
        std::string agent;
        std::string said;
    };
    const std::vector<Row> rows{
        {"bede", "bede.login1", "200"},
        {"bede", "bede", "403 task.other_site"},
        {"bede", "bede-2.login1", "403 task.other_site"},
        {"bede", "bede.gh200.login1", "403 task.other_site"},
        {"bede.gh200", "bede.gh200.login1", "200"},
        {"bede.gh200", "bede.login1", "403 task.other_site"},
    };
    TaskFixture fixture;
    for (const Row& row : rows) {
        CAPTURE(row.site);
        CAPTURE(row.agent);
        CHECK(fixture.ask(fixture.add_enrolled(row.site), "claimTask", fixture.offer(row.agent)) == row.said);
    }
}

TEST_CASE("what the site of an agent that enrolled has is out of reach of every other site") {
    TaskFixture fixture;
    const std::string task = fixture.add();
    const std::string bede = fixture.add_enrolled("bede");
    const std::string thief = fixture.add_enrolled("cuthbert");
    const auto tasks_of = [&](const std::string& who, const std::string& agent) {
        CHECK(fixture.ask(who, "claimTask", fixture.offer(agent, {task})) == "200");
        return wire::parse_claimed(fixture.answered).value().tasks.size();
    };
    REQUIRE(tasks_of(bede, "bede.login1") == 1);
    const Form wheel = Form::of(WheelWriter("six", "1.16.0"));
    CHECK(tasks_of(thief, "cuthbert.login1") == 0);
    CHECK(fixture.ask(thief, "claimTask", fixture.offer("bede.login1", {task})) == "403 task.other_site");
    CHECK(fixture.ask(thief, "endTask", fixture.end(false, wheel, "cuthbert"), task) == "409 task.lost");
    CHECK(fixture.ask(thief, "endTask", fixture.end(false, wheel, "bede"), task) == "403 task.other_site");
    CHECK(fixture.upload(thief, wheel, "other", task) == "409 task.lost");
    // A token that a person made is bound to no site.
    CHECK(tasks_of(fixture.builder, "bede.login1") == 0);
    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(false, wheel, "bede"), task) ==
          "409 task.lost");
    CHECK(tasks_of(bede, "bede.login1") == 1);
    CHECK(fixture.ask(bede, "endTask", fixture.end(false, wheel, "bede"), task) == "200");
}

TEST_CASE("a late site's task that another site took is the other's alone") {
    TaskFixture fixture;
    const std::string task = fixture.add();
    const std::string late = fixture.add_enrolled("bede");
    const std::string next = fixture.add_enrolled("cuthbert");
    REQUIRE(fixture.ask(late, "claimTask", fixture.offer("bede.login1")) == "200");
    fixture.clock.sleep_ms(lease_s * 1000);
    REQUIRE(fixture.ask(next, "claimTask", fixture.offer("cuthbert.login1")) == "200");
    REQUIRE(wire::parse_claimed(fixture.answered).value().tasks.size() == 1);
    const Form wheel = Form::of(WheelWriter("six", "1.16.0"));
    CHECK(fixture.upload(late, wheel, "other", task) == "409 task.lost");
    CHECK(fixture.upload(next, wheel, "other", task) == "200");
    CHECK(fixture.ask(late, "endTask", fixture.end(true, wheel, "bede"), task) == "409 task.lost");
    CHECK(fixture.ask(late, "claimTask", fixture.offer("bede.login1", {task})) == "200");
    CHECK(wire::parse_claimed(fixture.answered).value().tasks.empty());
    CHECK(fixture.ask(next, "endTask", fixture.end(true, wheel, "cuthbert"), task) == "200");
}

TEST_CASE(
    "the status of an index shows its requests, without persons, why nobody takes one and how one ended") {
    TaskFixture fixture;
    std::string shown;
    registry::SiteReports reports(
        fixture.config,
        [&](const std::filesystem::path&, const std::string& index, const std::string& document) {
            if (index == "main") shown = document;
            return true;
        },
        fixture.clock,
        [&](const std::string& index) { return registry::shown_requests(*fixture.queue, index); });
    registry::Api api(fixture.parts(fixture.queue.get(), nullptr, &reports));
    const auto ask = [&](const std::string& who, const std::string& operation, const std::string& body,
                         const std::string& task = {}) {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        if (!task.empty()) request.parameters.emplace("task", task);
        request.authorization = "Bearer " + who;
        request.body = body;
        const auto answer = api.answer(request);
        REQUIRE(answer);
        return answer->json;
    };
    const auto requests = [&] { return status::parse_index_status(shown).value().requests; };
    const std::string added = ask(fixture.asker, "addTask", fixture.body_of());
    const wire::Task task = wire::parse_task(added).value();
    const std::string why = io::parse_json(added).value().string_or("nobody_takes", "");
    CHECK(why.find("no agent reports") != std::string::npos);
    REQUIRE(requests().size() == 1);
    CHECK(requests()[0].package == "six");
    CHECK(requests()[0].state == "queued");
    CHECK(requests()[0].reason == why);
    CHECK(shown.find("anna") == std::string::npos);
    status::SiteReport report;
    report.site = "bede";
    report.index = "main";
    report.time = fixture.clock.now();
    report.claims = "any";
    report.pythons = {"3.12"};
    REQUIRE(reports.keep(report));
    CHECK(requests().at(0).reason == "no agent takes it: bede builds for Python 3.12 only");
    CHECK(ask(fixture.asker, "showTask", {}, task.id).find("bede builds for Python 3.12 only") !=
          std::string::npos);
    report.pythons = {"3.11"};
    report.claims = "recipes";
    report.recipes = {"torch"};
    report.time += 1;
    REQUIRE(reports.keep(report));
    CHECK(requests().at(0).reason.find("bede takes only packages that it has a recipe for") !=
          std::string::npos);
    CHECK(shown.find("\"torch\"") == std::string::npos);  // no reader of the pages needs the list
    report.recipes = {"six"};
    report.time += 1;
    REQUIRE(reports.keep(report));
    CHECK(requests().at(0).reason.empty());
    ask(fixture.builder, "claimTask", fixture.offer());
    CHECK(requests().at(0).state == "claimed");
    fixture.clock.sleep_ms(lease_s * 1000);
    reports.show_requests("main");
    CHECK(requests().at(0).state == "queued");
    ask(fixture.builder, "claimTask", fixture.offer("bede.login1", {task.id}));  // it was late
    CHECK(requests().at(0).state == "claimed");
    ask(fixture.asker, "cancelTask", R"({"format":"wheelyard.change/1","reason":"enough"})", task.id);
    REQUIRE(requests().size() == 1);
    CHECK(requests()[0].state == "cancelled");
    CHECK(requests()[0].reason == "it was cancelled");
    CHECK(requests()[0].ended == fixture.clock.now());
    CHECK(shown.find("anna") == std::string::npos);
    fixture.clock.sleep_ms(1);
    const std::string failed = wire::parse_task(ask(fixture.asker, "addTask", fixture.body_of())).value().id;
    ask(fixture.builder, "claimTask", fixture.offer());
    wire::Outcome outcome;
    outcome.attempt = "w1";
    outcome.site = "bede";
    outcome.cell = "six-1.16.0-cp311";
    outcome.diagnosis = wire::Diagnosis{};
    outcome.diagnosis->error = {"job.exit", "No compiler in '/home/anna/bin'", "", "install one"};
    ask(fixture.builder, "endTask", wire::render_outcome(outcome), failed);
    REQUIRE(requests().size() == 2);
    CHECK(requests()[0].id == failed);  // the newest first
    CHECK(requests()[0].state == "failed");
    CHECK(requests()[0].reason == "No compiler in 'PATH'");
    fixture.clock.sleep_ms(tasks::shown_after_end_days * 24 * 3'600'000 + 1);
    reports.show_requests("main");
    CHECK(requests().empty());
}

TEST_CASE("one request adds many tasks, and a refused one stops none of the others") {
    TaskFixture fixture;
    const auto body = [](const std::string& tasks) {
        return R"({"format":"wheelyard.wishes/1","tasks":[)" + tasks + "]}";
    };
    CHECK(fixture.ask(fixture.builder, "addTasks", body(fixture.body_of())) ==
          "200");  // each answer is a refusal
    CHECK(fixture.answered.find("auth.scope_refused") != std::string::npos);
    const std::string tasks =
        fixture.body_of() + "," + fixture.body_of("six", "nowhere") + ",7," + fixture.body_of("seven");
    REQUIRE(fixture.ask(fixture.asker, "addTasks", body(tasks)) == "200");
    const auto reply = io::parse_json(fixture.answered).value();
    const auto& answers = reply.items("tasks");
    REQUIRE(answers.size() == 4);
    CHECK(wire::parse_task(answers[0].render()).value().request.package == "six");
    REQUIRE(answers[1].find("problem") != nullptr);
    CHECK(answers[1].find("problem")->string_or("code", "") == "index.unknown");
    CHECK(answers[2].find("problem")->string_or("code", "") == "task.body");
    CHECK(wire::parse_task(answers[3].render()).value().request.package == "seven");
    for (const std::string& wrong : {std::string("{}"), std::string("7"), body(""), fixture.body_of()})
        CHECK(fixture.ask(fixture.asker, "addTasks", wrong) == "400 task.body");
    std::string many = fixture.body_of();
    for (std::size_t more = 0; more < wire::max_tasks_added; ++more)
        many += "," + fixture.body_of();
    CHECK(fixture.ask(fixture.asker, "addTasks", body(many)) == "400 task.body");
}

TEST_CASE("a token takes no tasks of another index, and of no project that is not its own") {
    TaskFixture fixture;
    fixture.add(fixture.body_of("six", "other"));
    CHECK(fixture.claim().tasks.empty());
    CHECK(fixture.ask(fixture.builder, "claimTask", fixture.offer("bede.login1", {}, "other")) ==
          "403 auth.scope_refused");
    const std::string id = fixture.add(fixture.body_of("seven"));
    fixture.builder = fixture.add_actor("six only", {"build"}, {"main"}, {"six"});
    CHECK(fixture.claim().tasks.empty());
    CHECK(fixture.ask(fixture.builder, "showTask", "", id) == "404 task.no_such_task");
    const std::string own = fixture.add();
    REQUIRE(fixture.claim().tasks.size() == 1);
    CHECK(fixture.claim().tasks.front().id == own);  // repeated, the answer is the same
}

TEST_CASE("a token for another index, or without `build`, ends no task") {
    TaskFixture fixture;
    const std::string id = fixture.add();
    fixture.claim();
    const std::string other = fixture.add_actor("other-agent", {"build"}, {"other"});
    const Form wheel = Form::of(WheelWriter("six", "1.16.0"));
    CHECK(fixture.ask(other, "endTask", fixture.end(false, wheel), id) == "404 task.no_such_task");
    CHECK(fixture.ask(fixture.asker, "endTask", fixture.end(false, wheel), id) == "403 auth.scope_refused");
    CHECK(fixture.ask(fixture.builder, "cancelTask", R"({"format":"wheelyard.change/1"})", id) ==
          "403 auth.scope_refused");
    CHECK(fixture.ask(fixture.builder, "endTask", "{}", id) == "400 task.body");
}

TEST_CASE("a site's token uploads the wheel of what it took into the staging index, once, and nothing else") {
    TaskFixture fixture;
    fixture.config.indexes.back().sdists = true;
    const std::string id = fixture.add();
    const Form wheel = Form::of(WheelWriter("six", "1.16.0"));
    CHECK(fixture.upload(fixture.builder, wheel, "other") == "403 auth.project_refused");
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "409 task.lost");
    const auto claimed = fixture.claim();
    CHECK(claimed.index == "other");
    CHECK(claimed.lease_s == fixture.config.tasks.lease_s);
    const std::string another = fixture.add_actor("another", {"build"}, {"main"});
    CHECK(fixture.upload(another, wheel, "other", id) == "409 task.lost");
    CHECK(fixture.upload(fixture.builder, wheel, "main", id) == "403 auth.index_refused");
    CHECK(fixture.upload(fixture.builder, wheel, "other") == "403 auth.project_refused");
    CHECK(fixture.upload(fixture.builder, wheel, "other", "t0") == "409 task.lost");
    CHECK(fixture.upload(fixture.builder, Form::of(WheelWriter("seven", "1.16.0")), "other", id) ==
          "403 auth.version_refused");
    CHECK(fixture.upload(fixture.builder, Form::of(WheelWriter("six", "1.17.0")), "other", id) ==
          "403 auth.version_refused");
    WheelWriter of_python_2("six", "1.16.0");
    of_python_2.tag("py2-none-any");
    CHECK(fixture.upload(fixture.builder, Form::of(of_python_2), "other", id) == "403 auth.version_refused");
    const test_support::SdistWriter source("six", "1.16.0");
    Form sdist = Form::of(source.filename(), source.bytes());
    sdist.set("version", "1.16.0").set("filetype", "sdist");
    CHECK(fixture.upload(fixture.builder, sdist, "other", id) == "403 auth.version_refused");
    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(true, wheel), id) == "409 task.no_such_wheel");
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "200");
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "200");  // a retry of the same bytes
    WheelWriter second("six", "1.16.0");
    second.tag("py3-none-linux_x86_64");
    CHECK(fixture.upload(fixture.builder, Form::of(second), "other", id) == "409 task.other_wheel");
    CHECK(fixture.cli.file("other", wheel.filename).value()->uploaded_by == "bede-agent");

    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(true, wheel), id) == "200");
    CHECK(wire::parse_task(fixture.answered).value().state == wire::TaskState::done);
    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(true, wheel), id) == "200");
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "409 task.lost");
}

TEST_CASE(
    "each of two tasks has its own wheel, whichever comes first, however often, and when one has ended") {
    TaskFixture fixture;
    const std::string cpu = fixture.add();
    const std::string gpu = fixture.add(wire::render_task_request({"main", "six", "1.16.0", "3.11", "gpu"}));
    REQUIRE(fixture.ask(fixture.builder, "claimTask",
                        wire::render_claim({"main", "bede.login1", {"3.11"}, {"gpu"}, {}, {}, 2})) == "200");
    REQUIRE(wire::parse_claimed(fixture.answered).value().tasks.size() == 2);
    WheelWriter linux_writer("six", "1.16.0");
    linux_writer.tag("py3-none-linux_x86_64");
    const Form of_gpu = Form::of(linux_writer);
    const Form of_cpu = Form::of(WheelWriter("six", "1.16.0"));
    CHECK(fixture.upload(fixture.builder, of_gpu, "other", gpu) == "200");
    CHECK(fixture.upload(fixture.builder, of_gpu, "other", gpu) == "200");
    SUBCASE("one has ended") {
        CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(true, of_gpu), gpu) == "200");
    }
    SUBCASE("both are there") {}
    CHECK(fixture.upload(fixture.builder, of_cpu, "other", cpu) == "200");
    WheelWriter third("six", "1.16.0");
    third.tag("cp311-cp311-linux_x86_64");
    CHECK(fixture.upload(fixture.builder, Form::of(third), "other", cpu) == "409 task.other_wheel");
    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(true, of_cpu), cpu) == "200");
}

TEST_CASE("a site that lost its task publishes no wheel for it, whatever else its token may do") {
    TaskFixture fixture;
    const std::string id = fixture.add();
    fixture.builder = fixture.add_actor("bede-agent", {"upload", "build"});
    fixture.claim();
    fixture.clock.sleep_ms(lease_s * 1000);
    const std::string next = fixture.add_actor("next", {"build"}, {"main"});
    REQUIRE(fixture.ask(next, "claimTask", fixture.offer("cuthbert.login1")) == "200");
    Form wheel = Form::of(WheelWriter("six", "1.16.0"));
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "409 task.lost");
    wheel.content_first = true;  // the field comes after the file
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "409 task.lost");
    CHECK_FALSE(fixture.cli.file("other", wheel.filename).value().has_value());
    CHECK(fixture.upload(fixture.builder, wheel, "other") == "200");  // as its own
}

TEST_CASE("an agent that enrolled and renews its token while it uploads still has the task") {
    TaskFixture fixture;
    const std::string id = fixture.add();
    REQUIRE(fixture.ask(fixture.add_enrolled("bede"), "claimTask", fixture.offer()) == "200");
    const Form wheel = Form::of(WheelWriter("six", "1.16.0")).set("wheelyard_task", id);
    auto to = fixture.head("other");
    to.authorization = "Bearer " + fixture.add_enrolled("bede");
    auto request = fixture.uploads.begin(to);
    REQUIRE(request.has_value());
    REQUIRE((*request)->feed(wheel.body()).has_value());
    REQUIRE(fixture.ask(fixture.add_enrolled("bede"), "claimTask", fixture.offer()) == "200");
    CHECK((*request)->finish().has_value());
}

TEST_CASE("a site that is late uploads nothing, its outcome is refused, and it may take the task again") {
    TaskFixture fixture;
    const std::string id = fixture.add();
    fixture.claim();
    const Form wheel = Form::of(WheelWriter("six", "1.16.0"));
    fixture.clock.sleep_ms(lease_s * 1000);
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "409 task.lost");
    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(false, wheel), id) == "409 task.lost");
    const auto again = fixture.claim({id});
    REQUIRE(again.tasks.size() == 1);
    CHECK(again.tasks.front().attempts == 2);
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "200");
}

TEST_CASE("a site that becomes late in the middle of an upload is refused before anything is committed") {
    TaskFixture fixture;
    const std::string id = fixture.add();
    fixture.claim();
    const Form wheel = Form::of(WheelWriter("six", "1.16.0")).set("wheelyard_task", id);
    auto to = fixture.head("other");
    to.authorization = "Bearer " + fixture.builder;
    auto request = fixture.uploads.begin(to);
    REQUIRE(request.has_value());
    REQUIRE((*request)->feed(wheel.body()).has_value());
    fixture.clock.sleep_ms(lease_s * 1000);
    const auto done = (*request)->finish();
    REQUIRE_FALSE(done.has_value());
    CHECK(done.error().code == "task.lost");
    CHECK_FALSE(fixture.cli.file("other", wheel.filename).value().has_value());
}

TEST_CASE("a token that replaces another uploads once it has asked, and a revoked one no more") {
    TaskFixture fixture;
    fixture.add();
    const std::string first = fixture.builder;
    const std::string id = fixture.claim().tasks.at(0).id;
    fixture.builder = fixture.add_actor("bede-agent", {"build"}, {"main"});
    const Form wheel = Form::of(WheelWriter("six", "1.16.0"));
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "409 task.lost");
    CHECK(fixture.claim({id}).tasks.size() == 1);
    CHECK(fixture.upload(first, wheel, "other", id) == "409 task.lost");
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "200");
    REQUIRE(fixture.cli.revoke_token(fixture.builder.substr(0, registry::token_id_length), {}).value());
    CHECK(fixture.upload(fixture.builder, wheel, "other", id) == "403 auth.token_refused");
}

TEST_CASE(
    "the log of a task is that of its build: the newest of the site that claimed it, then the one of its "
    "outcome") {
    TaskFixture fixture;
    const std::string id = fixture.add();
    const auto log = [&] {
        CHECK(fixture.ask(fixture.asker, "readTaskLog", "", id) == "200");
        return fixture.answered;
    };
    CHECK(log().empty());
    fixture.clock.sleep_ms(1);
    fixture.claim();
    fixture.report("bede", "w1", "<b>one</b>\n");
    fixture.report("elsewhere", "w8", "of another site");
    CHECK(log() == "<b>one</b>\n");
    CHECK(fixture.ask(fixture.asker, "readTaskLog", "", id, "offset=3") == "200");
    CHECK(fixture.answered == "one</b>\n");
    CHECK(fixture.ask(fixture.asker, "readTaskLog", "", id, "offset=x") == "400 task.query");
    fixture.report("bede", "w2", "again");
    CHECK(log() == "again");
    const Form wheel = Form::of(WheelWriter("six", "1.16.0"));
    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(false, wheel), id) == "200");
    CHECK(log() == "<b>one</b>\n");  // its outcome names w1
    const std::string narrow = fixture.add_actor("narrow", {"task"}, {"other"});
    CHECK(fixture.ask(narrow, "readTaskLog", "", id) == "404 task.no_such_task");
}

TEST_CASE("an outcome that names the build of another site is refused, and shows nobody its log") {
    TaskFixture fixture;
    const std::string id = fixture.add();
    fixture.claim();
    fixture.report("elsewhere", "w1", "of another site");
    const Form wheel = Form::of(WheelWriter("six", "1.16.0"));
    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(false, wheel, "elsewhere"), id) ==
          "409 task.lost");
    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(false, wheel), id) == "200");
    CHECK(fixture.ask(fixture.asker, "readTaskLog", "", id) == "200");
    CHECK(fixture.answered.empty());
}

TEST_CASE("tasks are listed for those who may see them, and cancelled by those who may ask for them") {
    TaskFixture fixture;
    const std::string six = fixture.add();
    const std::string other = fixture.add(fixture.body_of("six", "other"));
    CHECK(fixture.ask(fixture.asker, "listTasks", "") == "200");
    CHECK(wire::parse_tasks(fixture.answered).value().size() == 2);
    CHECK(fixture.ask(fixture.builder, "listTasks", "", {}, "state=queued") == "200");
    CHECK(wire::parse_tasks(fixture.answered).value().size() == 1);
    CHECK(fixture.ask(fixture.asker, "listTasks", "", {}, "state=gone") == "400 task.query");
    CHECK(fixture.ask(fixture.asker, "cancelTask", R"({"format":"wheelyard.change/1","reason":"late"})",
                      six) == "200");
    CHECK(wire::parse_task(fixture.answered).value().reason == "cancelled by anna: late");
    CHECK(fixture.ask(fixture.asker, "cancelTask", "{}", other) == "400 lifecycle.body");
    CHECK(fixture.ask(fixture.asker, "showTask", "", "t0") == "404 task.no_such_task");
}

TEST_CASE("a token sees all tasks in its scope, even behind many tasks outside of it") {
    TaskFixture fixture;
    for (std::size_t i = 0; i < tasks::max_tasks_returned; ++i)
        fixture.add(wire::render_task_request({"other", "six", "1." + std::to_string(i), "3.11", ""}));
    const std::string six = fixture.add();
    fixture.add(fixture.body_of("seven"));
    const std::string narrow = fixture.add_actor("narrow", {"build"}, {"main"}, {"six"});
    const auto listed = [&](const std::string& token, const std::string& query) {
        REQUIRE(fixture.ask(token, "listTasks", "", {}, query) == "200");
        return wire::parse_tasks(fixture.answered).value();
    };
    REQUIRE(listed(narrow, "").size() == 1);
    CHECK(listed(narrow, "").front().id == six);
    CHECK(listed(fixture.builder, "").size() == 2);
    CHECK(listed(fixture.add_actor("uploader", {"upload"}), "").empty());
    const auto first = listed(fixture.asker, "");
    CHECK(first.size() == tasks::max_tasks_returned);
    CHECK(listed(fixture.asker, "after=" + first.back().id).size() == 2);
    CHECK(listed(fixture.asker, "limit=7").size() == 7);
    CHECK(listed(fixture.asker, "limit=99999").size() == tasks::max_tasks_returned);
    CHECK(fixture.ask(fixture.asker, "listTasks", "", {}, "limit=-1") == "400 task.query");
    CHECK(fixture.ask(fixture.asker, "listTasks", "", {}, "after=t0") == "404 task.no_such_task");
    CHECK(fixture.ask(narrow, "listTasks", "", {}, "after=" + first.front().id) == "404 task.no_such_task");
}

TEST_CASE("a wheel for another Python does not end a task") {
    TaskFixture fixture;
    const std::string id = fixture.add();
    fixture.claim();
    WheelWriter other("six", "1.16.0");
    other.tag("py2-none-any");
    const Form wheel = Form::of(other);
    REQUIRE(fixture.upload(fixture.add_actor("author", {"upload"}), wheel, "other") == "200");
    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(true, wheel), id) == "409 task.no_such_wheel");
    CHECK(fixture.answered.find("3.11") != std::string::npos);
    CHECK(fixture.ask(fixture.builder, "endTask", fixture.end(false, wheel), id) == "200");
}

TEST_CASE("an outcome that comes together with its claim has to be true all the same") {
    TaskFixture fixture;
    wire::Outcome outcome;
    outcome.attempt = "w1";
    outcome.site = "bede";
    outcome.cell = "six-cp311";
    outcome.done = true;
    outcome.wheel.sha256 = std::string(64, 'a');
    for (int round = 10; round < 40; ++round) {
        const std::string version = "1." + std::to_string(round);
        const std::string id = fixture.add(wire::render_task_request({"main", "six", version, "3.11", ""}));
        outcome.wheel.filename = "six-" + version + "-py3-none-any.whl";
        http::ApiRequest claim{.request_id = "r2", .operation = "claimTask"};
        claim.authorization = "Bearer " + fixture.builder;
        claim.body = fixture.offer();
        bool is_claimed = false;
        std::thread claiming([&] { is_claimed = fixture.api.answer(claim).has_value(); });
        const std::string ended = fixture.ask(fixture.builder, "endTask", wire::render_outcome(outcome), id);
        claiming.join();
        CHECK(is_claimed);
        REQUIRE(ended == "409 task.no_such_wheel");
        outcome.done = false;
        REQUIRE(fixture.ask(fixture.builder, "endTask", wire::render_outcome(outcome), id) == "200");
        outcome.done = true;
    }
}

TEST_CASE("two sites that ask at once get different tasks, and all of them") {
    TaskFixture fixture;
    constexpr int count = 20;
    for (int round = 0; round < count; ++round)
        fixture.add(wire::render_task_request({"main", "six", "1." + std::to_string(round), "3.11", ""}));
    const auto take = [&](const std::string& agent, std::vector<std::string>& taken) {
        for (std::size_t before = 0;; before = taken.size()) {
            http::ApiRequest claim{.request_id = "r1", .operation = "claimTask"};
            claim.authorization = "Bearer " + fixture.builder;
            claim.body = fixture.offer(agent, taken);
            const auto answer = fixture.api.answer(claim);
            if (!answer) return;
            taken.clear();
            const wire::Claimed claimed = wire::parse_claimed(answer->json).value();
            for (const wire::Task& task : claimed.tasks)
                taken.push_back(task.id);
            if (taken.size() == before) return;
        }
    };
    std::vector<std::string> first;
    std::vector<std::string> second;
    std::thread other([&] { take("cuthbert.login1", second); });
    take("bede.login1", first);
    other.join();
    std::set<std::string> all(first.begin(), first.end());
    all.insert(second.begin(), second.end());
    CHECK(first.size() + second.size() == count);
    CHECK(all.size() == count);
}

namespace {

// An sdist of "six" in "other", as its upload would have left it.
void add_sdist(TaskFixture& fixture) {
    fixture.config.indexes.back().sdists = true;
    catalog::FileRow row;
    row.index = "other";
    row.project = "six";
    row.filename = "six-1.16.0.tar.gz";
    row.version = "1.16.0";
    row.sha256 = std::string(64, 'a');
    row.size_bytes = 1;
    row.metadata_sha256 = std::string(64, 'b');
    row.uploaded_by = "author";
    REQUIRE(fixture.cli.add_file(row));
}

std::string uploaded_request(const std::string& source_index = "other") {
    wire::TaskRequest request{"main", "six", "1.16.0", "3.11", ""};
    request.source = wire::UploadedSource{source_index, "", ""};
    return wire::render_task_request(request);
}

}  // namespace

TEST_CASE("a task with an uploaded source names the registry's file, and another identity approves it") {
    TaskFixture fixture;
    CHECK(fixture.ask(fixture.asker, "addTask", uploaded_request()) == "404 task.no_such_source");
    CHECK(fixture.ask(fixture.asker, "addTask", uploaded_request("nowhere")) == "404 index.unknown");
    add_sdist(fixture);
    const std::string id = fixture.add(uploaded_request());
    const wire::Task task = wire::parse_task(fixture.answered).value();
    CHECK(task.state == wire::TaskState::awaits_approval);
    CHECK(task.request.source == wire::UploadedSource{"other", "six-1.16.0.tar.gz", std::string(64, 'a')});

    const std::string change = R"({"format":"wheelyard.change/1","reason":"no"})";
    const std::string approver = fixture.add_actor("bert", {"approve"});
    const std::string both = fixture.add_actor("anna", {"task", "approve"});
    for (const std::string operation : {"approveTask", "rejectTask"}) {
        CHECK(fixture.ask(fixture.asker, operation, change, id) == "403 auth.scope_refused");
        CHECK(fixture.ask(fixture.builder, operation, change, id) == "403 auth.scope_refused");
        CHECK(fixture.ask(both, operation, change, id) == "403 task.own_request");
    }
    CHECK(fixture.ask(approver, "cancelTask", change, id) == "403 auth.scope_refused");
    CHECK(fixture.ask(approver, "approveTask", change, id) == "200");
    CHECK(wire::parse_task(fixture.answered).value().approved_by == "bert");
    CHECK(fixture.ask(approver, "rejectTask", change, id) == "409 task.awaits_nothing");
}

TEST_CASE("a private index gives its sources to nobody who may not read it, and to no public index") {
    TaskFixture fixture;
    add_sdist(fixture);
    fixture.config.indexes.back().is_private = true;
    fixture.asker = fixture.add_actor("carl", {"task"}, {"main"});
    CHECK(fixture.ask(fixture.asker, "addTask", uploaded_request()) == "404 index.unknown");
    fixture.asker = fixture.add_actor("dora", {"task", "read"});
    CHECK(fixture.ask(fixture.asker, "addTask", uploaded_request()) == "409 task.would_publish");
    fixture.config.indexes.front().is_private = true;
    CHECK(fixture.ask(fixture.asker, "addTask", uploaded_request()) == "200");
}

TEST_CASE("an uploaded source distribution becomes the requests that its index names, once") {
    TaskFixture fixture;
    fixture.config.indexes.front().sdists = true;
    fixture.config.indexes.front().builds = {{"other", {"3.11", "3.12"}, {""}}};
    const std::string author = fixture.add_actor("author", {"upload"});
    const test_support::SdistWriter six("six", "1.16.0");
    Form form = Form::of(six.filename(), six.bytes());
    form.set("version", "1.16.0").set("filetype", "sdist");
    for (int round = 0; round < 2; ++round)  // sent again, as after a lost answer
        REQUIRE(fixture.upload(author, form, "main") == "200");
    const auto listed = fixture.queue->list({});
    REQUIRE(listed.value().size() == 2);
    for (const wire::Task& task : *listed) {
        CHECK(task.state == wire::TaskState::awaits_approval);
        CHECK(task.request.index == "other");
        CHECK(task.asked_by == "author");
        CHECK(task.request.source ==
              wire::UploadedSource{"main", six.filename(), base::sha256_hex(six.bytes())});
    }
    Form wheel = Form::of(WheelWriter("six", "1.17.0"));
    CHECK(fixture.upload(author, wheel, "main") == "200");
    CHECK(fixture.queue->list({}).value().size() == 2);
}
