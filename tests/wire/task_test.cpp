// Task documents: round trips, and rejected input.
#include "lib/wire/task.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/golden.hpp"

using namespace wheelyard;
using wire::TaskState;

namespace {

wire::Task sample() {
    wire::Task task;
    task.id = "t5f0c9a31d2be";
    task.request = {"bede", "torch", "2.4.0+cu123", "3.11", "h100"};
    task.state = TaskState::claimed;
    task.reason = "a \"reason\"";
    task.asked_by = "anna";
    task.asked = 1'795'000'000'000'000;
    task.changed = task.asked + 1;
    task.attempts = 2;
    task.agent = "login1";
    task.lease_until = task.asked + 2;
    return task;
}

}  // namespace

TEST_CASE("a task survives a round trip") {
    const wire::Task task = sample();
    const auto back = wire::parse_task(wire::task_json(task).render());
    REQUIRE_MESSAGE(back.has_value(), back.error().text());
    CHECK(wire::task_json(*back) == wire::task_json(task));
    const auto list = wire::parse_tasks(wire::render_tasks({task, task}));
    REQUIRE(list.has_value());
    CHECK(list->size() == 2);
}

TEST_CASE("the bytes of these documents stay as they were sent") {
    wire::Task waiting = sample();
    waiting.request.source = wire::UploadedSource{"ours", "torch-2.4.0+cu123.tar.gz", std::string(64, 'a')};
    waiting.lease_until = 0;
    wire::ClaimOffer offer{"bede", "bede.login1", {"3.11"}, {"cpu"}, std::vector<std::string>{}, {"t1"}, 2};
    offer.agents = {"bede.login2"};
    const wire::ClaimOffer any{"bede", "bede.login1", {}, {}, {}, {}, 0, {true, "no"}};
    const std::string documents[] = {wire::render_task_request(sample().request),
                                     wire::render_task_request(waiting.request),
                                     wire::task_json(sample()).render(),
                                     wire::task_json(waiting).render(),
                                     wire::render_tasks({waiting}),
                                     wire::render_claim(offer),
                                     wire::render_claim(any),
                                     wire::render_claimed({"staging", 600, {}}),
                                     wire::render_claimed({"staging", 600, {waiting}})};
    std::string text;
    for (const std::string& document : documents)
        text += document + "\n";
    CHECK(test_support::golden_difference("wire/task_documents.jsonl", text) == "");
}

TEST_CASE("list rows omit outcomes, so that many fit into one response") {
    wire::Task task = sample();
    task.outcome = io::Json::object({{"log", std::string(60'000, 'x')}});
    CHECK(wire::task_json(task).find("outcome") != nullptr);
    CHECK(wire::task_row_json(task).find("outcome") == nullptr);
    task.request.package = task.request.accelerator = std::string(wire::max_task_word_bytes, 'p');
    task.asked_by = std::string(wire::max_task_word_bytes, 'a');
    task.agent = std::string(wire::max_task_word_bytes, 'a');
    task.reason = std::string(700, '\x01');  // six bytes each in JSON
    const std::string text = wire::render_tasks(std::vector<wire::Task>(100, task));
    CHECK(text.size() < wire::max_task_document);
    CHECK(wire::parse_tasks(text).value().size() == 100);
}

TEST_CASE("a task with an uploaded source survives a round trip, and names one file") {
    wire::Task task = sample();
    const std::string sha256(64, 'a');
    task.request.source = wire::UploadedSource{"ours", "torch-2.4.0+cu123.tar.gz", sha256};
    task.state = TaskState::awaits_approval;
    task.approved_by = "bert";
    const auto back = wire::parse_task(wire::task_json(task).render());
    REQUIRE_MESSAGE(back.has_value(), back.error().text());
    CHECK(back->request == task.request);
    CHECK(back->state == TaskState::awaits_approval);
    CHECK(back->approved_by == "bert");
    // A request may leave name and digest to the registry; a task may not.
    task.request.source = wire::UploadedSource{"ours", "", ""};
    CHECK(wire::parse_task_request(wire::render_task_request(task.request)).has_value());
    CHECK(wire::parse_task(wire::task_json(task).render()).error().code == "task.body");
}

TEST_CASE("an uploaded source of another project or version, or of no file name, is refused") {
    const std::string sha256(64, 'a');
    const wire::UploadedSource rows[] = {{"", "six-1.0.tar.gz", sha256},
                                         {"ours", "seven-1.0.tar.gz", sha256},
                                         {"ours", "six-2.0.tar.gz", sha256},
                                         {"ours", "six-1.0-py3-none-any.whl", sha256},
                                         {"ours", "../six-1.0.tar.gz", sha256},
                                         {"ours", "six-1.0.tar.gz", "abc"},
                                         {"ours", "six-1.0.tar.gz", std::string(64, 'A')}};
    for (const auto& source : rows) {
        CAPTURE(source.filename);
        const auto checked = wire::check_task_request({"bede", "six", "1.0", "3.11", "", source});
        REQUIRE_FALSE(checked.has_value());
        CHECK(checked.error().code == "task.wish");
    }
    CHECK(wire::check_task_request(
              {"bede", "Six", "1.0", "3.11", "", wire::UploadedSource{"ours", "six-1.0.tar.gz", sha256}})
              .has_value());
}

TEST_CASE("a claim says whether its site builds uploaded sources; one that does not say means no") {
    wire::ClaimOffer offer{"bede", "bede.login1", {"3.11"}, {"cpu"}, {}, {}, 1};
    offer.uploads = {false, std::string(1000, 'x')};
    const auto refusing = wire::parse_claim(wire::render_claim(offer)).value();
    CHECK_FALSE(refusing.uploads.builds);
    CHECK(refusing.uploads.reason.size() == wire::max_uploads_reason_bytes);
    offer.uploads = {true, ""};
    CHECK(wire::parse_claim(wire::render_claim(offer)).value().uploads.builds);
    const auto silent = wire::parse_claim(
        R"({"format":"wheelyard.claim/2","index":"bede","agent":"a","pythons":[],"accelerators":[]})");
    CHECK_FALSE(silent.value().uploads.builds);
    CHECK(silent.value().room == 0);
    CHECK(silent.value().tasks.empty());
}

TEST_CASE("a claim and its answer survive a round trip") {
    wire::ClaimOffer offer{"bede", "bede.login1", {"3.11", "3.12"}, {"cpu"}, {}, {"t1"}, 3};
    CHECK_FALSE(wire::parse_claim(wire::render_claim(offer)).value().packages.has_value());
    offer.packages = std::vector<std::string>{"torch"};
    const auto back = wire::parse_claim(wire::render_claim(offer)).value();
    CHECK(wire::render_claim(back) == wire::render_claim(offer));

    const wire::Claimed claimed{"staging", 600, {sample(), sample()}};
    const auto answer = wire::parse_claimed(wire::render_claimed(claimed)).value();
    CHECK(wire::render_claimed(answer) == wire::render_claimed(claimed));
    CHECK(wire::parse_claimed(wire::render_claimed({"staging", 600, {}})).value().tasks.empty());
    CHECK_FALSE(wire::parse_claimed(wire::render_claimed({"staging", 0, {}})).has_value());
    CHECK_FALSE(wire::parse_claimed(wire::render_claimed({"", 600, {}})).has_value());
}

TEST_CASE("the site of an agent is what stands before the last dot of its name") {
    CHECK(wire::site_of_agent("bede.login1") == "bede");
    CHECK(wire::site_of_agent("bede.gh200.login1") == "bede.gh200");
    CHECK(wire::site_of_agent("bede") == "bede");
}

TEST_CASE("a request is normalised and names one version, one Python and one project") {
    const auto request = wire::check_task_request({"bede", "Foo__Bar", "2.4.0RC1", "3.11", ""}).value();
    CHECK(request.package == "foo-bar");
    CHECK(request.version == "2.4.0rc1");
    const wire::TaskRequest refused[] = {
        {"", "torch", "2.4.0", "3.11", ""},          {"be de", "torch", "2.4.0", "3.11", ""},
        {"bede", "", "2.4.0", "3.11", ""},           {"bede", "-torch", "2.4.0", "3.11", ""},
        {"bede", "torch", "latest", "3.11", ""},     {"bede", "torch", ">=2", "3.11", ""},
        {"bede", "torch", "", "3.11", ""},           {"bede", "torch", " 2.4.0", "3.11", ""},
        {"bede", "torch", "2.4.0", "3", ""},         {"bede", "torch", "2.4.0", "3.11.1", ""},
        {"bede", "torch", "2.4.0", "3.x", ""},       {"bede", "torch", "2.4.0", "3.1111111", ""},
        {"bede", "torch", "2.4.0", "3.11", "a/b"},   {"bede", std::string(201, 'a'), "2.4.0", "3.11", ""},
        {"../x", "torch", "2.4.0", "3.11", "$(id)"},
    };
    for (const wire::TaskRequest& one : refused) {
        CAPTURE(wire::render_task_request(one));
        CHECK_FALSE(wire::check_task_request(one).has_value());
        CHECK_FALSE(wire::parse_task_request(wire::render_task_request(one)).has_value());
    }
}

TEST_CASE("a wheel meets a task's version: any label if none is requested, otherwise that one") {
    CHECK(wire::meets_version("2.4.0", "2.4.0"));
    CHECK(wire::meets_version("2.4.0+cu123", "2.4"));
    CHECK(wire::meets_version("2.4.0+cu123", "2.4.0+cu123"));
    CHECK_FALSE(wire::meets_version("2.4.0", "2.4.0+cu123"));
    CHECK_FALSE(wire::meets_version("2.4.0+cu126", "2.4.0+cu123"));
    CHECK_FALSE(wire::meets_version("2.4.1", "2.4.0"));
    CHECK_FALSE(wire::meets_version("x", "2.4.0"));
}

TEST_CASE("a wheel meets a task's Python by its tags, for any platform") {
    struct Row {
        const char* tags;
        const char* python;
        bool fits;
    };
    const Row rows[] = {{"cp311-cp311-linux_aarch64", "3.11", true},
                        {"cp311-cp311-manylinux_2_28_x86_64", "3.11", true},
                        {"cp312-cp312-linux_x86_64", "3.11", false},
                        {"cp310-cp310-linux_x86_64", "3.11", false},
                        {"cp38-abi3-linux_x86_64", "3.11", true},
                        {"cp312-abi3-linux_x86_64", "3.11", false},
                        {"py3-none-any", "3.11", true},
                        {"py2.py3-none-any", "3.11", true},
                        {"py2-none-any", "3.11", false},
                        {"py3-none-linux_x86_64", "3.11", true},
                        {"cp313-cp313t-linux_x86_64", "3.13", true},
                        {"pp310-pypy310_pp73-linux_x86_64", "3.10", true},
                        {"py3-none-any", "3.99999", false},
                        {"py3-none-any", "100.1", false},
                        {"py3-none-any", "3", false},
                        {"py3-none-any", "3.11.1", false},
                        {"py3-none-any", "x.11", false},
                        {"py3-none-any", "3.x", false}};
    for (const Row& row : rows) {
        CAPTURE(row.tags);
        CAPTURE(row.python);
        CHECK(wire::meets_python(wheel::parse_tag_set(row.tags).value(), row.python) == row.fits);
    }
}

TEST_CASE("text that is not such a document is an error") {
    for (const std::string body :
         {"", "[]", "{", "{}", R"({"format":"wheelyard.task/2"})", R"({"format":"wheelyard.claim/2"})",
          R"({"format":"wheelyard.claimed/2"})",
          R"({"format":"wheelyard.claim/1","index":"bede","agent":"a","pythons":[]})"}) {
        CAPTURE(body);
        CHECK_FALSE(wire::parse_task_request(body).has_value());
        CHECK_FALSE(wire::parse_task(body).has_value());
        CHECK_FALSE(wire::parse_tasks(body).has_value());
        CHECK_FALSE(wire::parse_claim(body).has_value());
        CHECK_FALSE(wire::parse_claimed(body).has_value());
    }
    const std::string head = R"({"format":"wheelyard.claim/2","index":"bede","agent":"a",)";
    CHECK(wire::parse_claim(head + R"("pythons":[]})").has_value());
    CHECK_FALSE(wire::parse_claim(head + R"("pythons":"3.11"})").has_value());
    CHECK_FALSE(wire::parse_claim(head + R"("pythons":[3]})").has_value());
    CHECK_FALSE(wire::parse_claim(head + R"("accelerators":[""]})").has_value());
    CHECK_FALSE(wire::parse_claim(head + R"("packages":["a b"]})").has_value());
    CHECK_FALSE(wire::parse_claim(head + R"("tasks":["../x"]})").has_value());
    CHECK_FALSE(wire::parse_claim(head + R"("room":-1})").has_value());
    CHECK_FALSE(wire::parse_claim(head + R"("room":1001})").has_value());
    CHECK(wire::parse_claim(head + R"("pythons":[],"room":1000})").has_value());
}

TEST_CASE("every state has a name that parses back") {
    for (const TaskState state :
         {TaskState::queued, TaskState::claimed, TaskState::done, TaskState::failed, TaskState::cancelled})
        CHECK(wire::parse_task_state(wire::task_state_text(state)) == state);
    CHECK_FALSE(wire::parse_task_state("gone").has_value());
}

TEST_CASE("the page of the tasks lists exactly the members of a task and of a claim") {
    CHECK(test_support::part_difference("reference/task.md", "task", wire::document_task()) == "");
    CHECK(test_support::part_difference("reference/task.md", "claim", wire::document_claim()) == "");
}
