// What everybody sees of a request, and who asks without a token.

#include <doctest/doctest.h>

#include <string>

#include "lib/io/json.hpp"
#include "registry/api/site_reports.hpp"
#include "tests/registry/upload_fixture.hpp"

using namespace wheelyard;
using test_support::RegistryFixture;

namespace {

struct RequestFixture : RegistryFixture {
    std::unique_ptr<tasks::TaskStore> queue = databases.tasks({}, clock).value();
    registry::Api api{parts(queue.get())};

    registry::IndexConfig& index() { return config.indexes.front(); }
    static std::string body(const std::string& package, const std::string& of = "main") {
        return R"({"format":"wheelyard.task/1","index":")" + of + R"(","package":")" + package +
               R"(","version":"2.4.0","python":"3.11"})";
    }
    std::string add(const std::string& package) {
        return queue->add({"main", package, "2.4.0", "3.11", ""}, "anna").value().task.id;
    }
    wire::Answered<http::ApiReply> ask(const std::string& operation, const std::string& who,
                                       const std::string& id, const std::string& sent = {},
                                       const std::string& client = "192.0.2.1") {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        request.parameters = {{"index", "main"}, {"task", id}};
        if (!who.empty()) request.authorization = "Bearer " + who;
        request.client = client;
        request.body = sent;
        return api.answer(request);
    }
    // An agent claims it, and builds nothing.
    void fail(const std::string& id, wire::Diagnosis why) {
        wire::ClaimOffer offer;
        offer.index = "main";
        offer.agent = "bede.login1";
        offer.pythons = {"3.11"};
        offer.room = 1;
        REQUIRE(queue->claim(offer, "wy_aaaaaaaaaaaa", [](const wire::Task&) { return true; }));
        wire::Outcome outcome;
        outcome.attempt = "w1";
        outcome.site = "bede";
        outcome.diagnosis = std::move(why);
        REQUIRE(queue->end(id, outcome, "wy_aaaaaaaaaaaa"));
    }
    static std::string code(const wire::Answered<http::ApiReply>& answered) {
        if (!answered) return std::to_string(answered.error().status) + " " + answered.error().code;
        return answered->text.value_or("200");
    }
    static io::Json document(const wire::Answered<http::ApiReply>& answered) {
        REQUIRE_MESSAGE(answered.has_value(), answered.error().detail);
        return io::parse_json(answered->json).value();
    }
};

}  // namespace

TEST_CASE("everybody sees state, cause and place; who reads logs also sees who asked") {
    RequestFixture farm;
    farm.add("six");
    const std::string id = farm.add("torch");
    farm.index().are_logs_for_tokens = true;
    const io::Json seen = farm.document(farm.ask("showRequest", "", id));
    CHECK(seen.string_or("state", "") == "queued");
    CHECK(seen.find("place")->render() == "2");
    CHECK(seen.find("asked_by") == nullptr);
    const std::string reader = farm.make_token("reader", {"main"}, {"*"}, {"read"});
    CHECK(farm.document(farm.ask("showRequest", reader, id)).string_or("asked_by", "") == "anna");
    REQUIRE(farm.queue->cancel(id, "anna", "of no use"));
    const io::Json ended = farm.document(farm.ask("showRequest", "", id));
    CHECK(ended.string_or("state", "") == "cancelled");
    CHECK(ended.render().find("anna") == std::string::npos);
    CHECK(farm.document(farm.ask("showRequest", reader, id)).string_or("reason", "") ==
          "cancelled by anna: of no use");
}

TEST_CASE("a failed request says why, and what to do") {
    RequestFixture farm;
    const std::string id = farm.add("torch");
    farm.fail(id, {"build", {"job.failed", "The job failed", "", "raise memory_mib"}, "Killed"});
    const io::Json seen = farm.document(farm.ask("showRequest", "", id));
    CHECK(seen.string_or("cause", "") == "The job failed [Killed]");
    CHECK(seen.string_or("remedy", "") == "raise memory_mib");
    farm.index().are_logs_for_tokens = true;
    const io::Json of_public = farm.document(farm.ask("showRequest", "", id));
    CHECK(of_public.string_or("cause", "") == "The job failed");
    CHECK(of_public.render().find("Killed") == std::string::npos);
    const std::string reader = farm.make_token("reader", {"main"}, {"*"}, {"read"});
    CHECK(farm.document(farm.ask("showRequest", reader, id)).string_or("cause", "") ==
          "The job failed [Killed]");
}

TEST_CASE("whose account an agent runs in is shown to those alone who approve its work") {
    struct Row {
        const char* said;
        const char* shown;
    };
    for (const auto& [said, shown] :
         {Row{"then: wheelyard-builder retry torch --site /home/anna/farm/site.toml",
              "then: wheelyard-builder retry torch"},
          Row{"run `wheelyard-builder logs a --site '/home/an na/site.toml'`, then",
              "run `wheelyard-builder logs a`, then"},
          Row{"No space is left below /nobackup/proj/anna/work; free some",
              "No space is left below PATH; free some"},
          Row{"set work.directory=/lustre/a/b (now /nobackup)", "set work.directory=PATH (now /nobackup)"},
          Row{"/usr/include/mpi.h lacks it", "/usr/include/mpi.h lacks it"},
          Row{"see https://example.org/a/b and 3/4/5", "see https://example.org/a/b and 3/4/5"}, Row{"", ""}})
        CHECK(registry::without_agent_paths(said) == shown);

    RequestFixture farm;
    const std::string id = farm.add("torch");
    farm.fail(id, {"build",
                   {"job.failed", "The job failed in /home/anna/work", "",
                    "retry it with --site /home/anna/site.toml"},
                   "x"});
    const std::string reader = farm.make_token("reader", {"main"}, {"*"}, {"read"});
    const std::string approver = farm.make_token("approver", {"main"}, {"*"}, {"approve", "task"});
    for (const std::string& who : {std::string(), reader})
        CHECK(farm.document(farm.ask("showRequest", who, id)).render().find("/home/anna") ==
              std::string::npos);
    const io::Json seen = farm.document(farm.ask("showRequest", approver, id));
    CHECK(seen.string_or("remedy", "") == "retry it with --site /home/anna/site.toml");
    CHECK(seen.string_or("cause", "").starts_with("The job failed in /home/anna/work"));
    // Who approves may ask again.
    CHECK(seen.find("may_retry")->render() == "true");
    CHECK(farm.document(farm.ask("showRequest", reader, id)).find("may_retry")->render() == "false");
}

TEST_CASE("a request without a token need not name the index of its address") {
    RequestFixture farm;
    farm.index().may_strangers_ask = true;
    const io::Json asked = farm.document(
        farm.ask("askForWheel", "", "",
                 R"({"format":"wheelyard.task/1","package":"torch","version":"2.4.0","python":"3.11"})"));
    CHECK(asked.string_or("index", "") == "main");
}

TEST_CASE("the request of a stranger awaits an approval, and each address has its own limit") {
    RequestFixture farm;
    farm.index().may_strangers_ask = true;
    const io::Json asked = farm.document(farm.ask("askForWheel", "", "", farm.body("torch")));
    CHECK(asked.string_or("state", "") == "awaits_approval");
    CHECK(farm.code(farm.ask("askForWheel", "", "", farm.body("torch", "other"))) == "400 task.wish");
    // The address is not kept.
    const auto kept = farm.queue->find(asked.string_or("id", ""));
    CHECK(kept->asked_by.starts_with("public:"));
    CHECK(kept->asked_by.find("192.0.2.1") == std::string::npos);
    for (std::int64_t i = 1; i < tasks::max_open_of_a_stranger; ++i)
        CHECK(farm.code(farm.ask("askForWheel", "", "", farm.body("p" + std::to_string(i)))) == "200");
    CHECK(farm.code(farm.ask("askForWheel", "", "", farm.body("more"))) == "429 task.too_many");
    CHECK(farm.code(farm.ask("askForWheel", "", "", farm.body("more"), "192.0.2.2")) == "200");
}

TEST_CASE("of a private index a reader of a project sees its requests") {
    RequestFixture farm;
    const std::string id = farm.add("torch");
    farm.index().is_private = true;
    CHECK(farm.code(farm.ask("showRequest", farm.make_token("reader", {"main"}, {"torch"}, {"read"}), id)) ==
          "200");
}

TEST_CASE("the place counts what is queued for the index before it, however long the queue is") {
    RequestFixture farm;
    for (int i = 0; i < 120; ++i)
        farm.add("p" + std::to_string(i));
    const std::string gone = farm.add("gone");
    REQUIRE(farm.queue->add({"elsewhere", "torch", "2.4.0", "3.11", ""}, "anna"));
    REQUIRE(farm.queue->cancel(gone, "anna", "no"));
    const std::string id = farm.add("torch");
    farm.add("later");
    CHECK(farm.document(farm.ask("showRequest", "", id)).int_or("place", 0) == 121);
    CHECK(farm.document(farm.ask("showRequest", "", gone)).find("place") == nullptr);
}
