// Agents that enrol: each code and each renewal gives a token once, a lost answer is no loss, and a copy is noticed.

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "lib/io/json.hpp"
#include "registry/access/agents.hpp"
#include "registry/access/limits.hpp"
#include "registry/access/person.hpp"
#include "registry/access/token_rules.hpp"
#include "tests/registry/upload_fixture.hpp"

using namespace wheelyard;
using test_support::RegistryFixture;

namespace {

constexpr base::UnixMicros hour = 3600LL * 1'000'000;

struct AgentFixture : RegistryFixture {
    // What `wheelyard-registry agent enrol` does.
    std::string code_for(const std::string& site, const std::vector<std::string>& projects = {"torch"}) {
        const registry::TokenText text = registry::make_token_text();
        const registry::NewToken wanted{site, {"main"}, projects, {"upload", "build"}};
        const auto scope = registry::make_token_row(wanted, {"main"}, text, {"local:root", {}, clock.now()});
        REQUIRE(scope.has_value());
        REQUIRE(cli.add_token(registry::make_agent_code(*scope, text, site)));
        return text.text();
    }
    wire::Answered<http::ApiReply> send(const std::string& body) {
        http::ApiRequest request{.request_id = "r1", .operation = "renewAgent"};
        request.body = body;
        return registry::Api(parts()).answer(request);
    }
    wire::Answered<http::ApiReply> renew(const std::string& site, const std::string& held,
                                         const std::string& next) {
        return send(io::Json::object({{"format", "wheelyard.agent_renewal/1"},
                                      {"site", site},
                                      {"credential", held},
                                      {"next", next}})
                        .render());
    }
    static std::string fresh() { return registry::make_token_text().text(); }
    static std::string id_of(const std::string& text) { return text.substr(0, registry::token_id_length); }
    static std::string said(const wire::Answered<http::ApiReply>& reply) {
        return reply ? "200" : std::to_string(reply.error().status) + " " + reply.error().code;
    }
    static std::string token_of(const wire::Answered<http::ApiReply>& reply) {
        REQUIRE_MESSAGE(reply.has_value(), reply.error().code);
        return io::parse_json(reply->json)->string_or("token", "");
    }
    // "" where the token works.
    std::string refusal_of(const std::string& token_text) {
        const auto caller = tokens->verify("Bearer " + token_text);
        return caller ? "" : caller.error().detail;
    }
    std::size_t active(const std::string& name) {
        const auto rows = cli.tokens().value();
        return static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [&](const auto& row) {
            return row.name == name && registry::token_state(row, clock.now()) == "active";
        }));
    }
};

}  // namespace

TEST_CASE("a code gives a token with the scope of the code, for half a day, in the name of its agent") {
    AgentFixture farm;
    const std::string text = farm.token_of(farm.renew("bede", farm.code_for("bede"), farm.fresh()));
    const auto caller = farm.tokens->verify("Bearer " + text);
    REQUIRE(caller.has_value());
    CHECK(caller->name == "agent:bede");
    CHECK(caller->indexes == std::vector<std::string>{"main"});
    CHECK(caller->projects == std::vector<std::string>{"torch"});
    CHECK(caller->actions == std::vector<std::string>{"upload", "build"});
    CHECK(caller->expires == farm.clock.now() + 12 * hour);
    farm.clock.sleep_ms(12 * 3600 * 1000);
    CHECK(farm.refusal_of(text).find("expired") != std::string::npos);
}

TEST_CASE("a code and a renewal are no tokens, and their secrets are not in the catalog") {
    AgentFixture farm;
    const std::string code = farm.code_for("bede");
    const std::string renewal = farm.fresh();
    CHECK_FALSE(farm.refusal_of(code).empty());
    REQUIRE(farm.renew("bede", code, renewal).has_value());
    CHECK_FALSE(farm.refusal_of(renewal).empty());
    // Programs of earlier versions compare with this hash.
    const auto rows = farm.cli.tokens().value();
    for (const auto& row : rows) {
        if (registry::agent_row_of(row.name) == registry::AgentRow::token) continue;
        for (const std::string& text : {code, renewal})
            CHECK(row.secret_sha256 != registry::hash_token_secret(text.substr(text.rfind('_') + 1)));
    }
}

TEST_CASE("an agent renews again and again, each time with the renewal that it made last") {
    AgentFixture farm;
    std::string held = farm.code_for("bede");
    for (int i = 0; i < 5; ++i) {
        const std::string next = farm.fresh();
        CHECK(farm.refusal_of(farm.token_of(farm.renew("bede", held, next))).empty());
        held = next;
        farm.clock.sleep_ms(59LL * 24 * 3600 * 1000);
    }
    CHECK(farm.active("agent:bede renewal") == 1);
    farm.clock.sleep_ms(2LL * 24 * 3600 * 1000);  // 61 days
    CHECK(farm.said(farm.renew("bede", held, farm.fresh())) == "403 agent.ended");
}

TEST_CASE("an answer that is lost is asked for again: of a code and of a renewal, as often as need be") {
    AgentFixture farm;
    const std::string code = farm.code_for("bede");
    const std::string first = farm.fresh();
    const std::string second = farm.fresh();
    for (int i = 0; i < 3; ++i)
        CHECK(farm.refusal_of(farm.token_of(farm.renew("bede", code, first))).empty());
    for (int i = 0; i < 3; ++i)
        CHECK(farm.refusal_of(farm.token_of(farm.renew("bede", first, second))).empty());
    CHECK(farm.said(farm.renew("bede", second, farm.fresh())) == "200");
}

TEST_CASE("a code that somebody has used is refused, and the agent that used it goes on") {
    AgentFixture farm;
    const std::string code = farm.code_for("bede");
    const std::string renewal = farm.fresh();
    const std::string text = farm.token_of(farm.renew("bede", code, renewal));
    CHECK(farm.said(farm.renew("bede", code, farm.fresh())) == "403 agent.code_used");
    CHECK(farm.refusal_of(text).empty());
    CHECK(farm.said(farm.renew("bede", renewal, farm.fresh())) == "200");
    CHECK(farm.said(farm.renew("bede", code, renewal)) == "403 agent.code_used");
}

TEST_CASE("a renewal that was replaced ends the agent, whoever of two has it, and says so once") {
    for (const bool thief_is_first : {true, false}) {
        AgentFixture farm;
        const std::string other =
            farm.token_of(farm.renew("archer2", farm.code_for("archer2"), farm.fresh()));
        const std::string copied = farm.fresh();
        REQUIRE(farm.renew("bede", farm.code_for("bede"), copied).has_value());
        const std::string first = farm.fresh();
        const std::string second = farm.fresh();
        const std::string text = farm.token_of(farm.renew("bede", copied, thief_is_first ? first : second));
        CHECK(farm.said(farm.renew("bede", copied, thief_is_first ? second : first)) == "403 agent.reused");
        CHECK_FALSE(farm.refusal_of(text).empty());
        CHECK(farm.said(farm.renew("bede", first, farm.fresh())) != "200");
        CHECK(farm.said(farm.renew("bede", second, farm.fresh())) != "200");
        CHECK(farm.said(farm.renew("bede", copied, farm.fresh())) == "403 agent.ended");
        CHECK(farm.active("agent:bede") + farm.active("agent:bede renewal") == 0);
        CHECK(farm.refusal_of(other).empty());
        // A new code enrols it again.
        CHECK(farm.said(farm.renew("bede", farm.code_for("bede"), farm.fresh())) == "200");
    }
}

TEST_CASE("the copy of a file that was written before the answer came is noticed as well") {
    AgentFixture farm;
    const std::string held = farm.fresh();
    REQUIRE(farm.renew("bede", farm.code_for("bede"), held).has_value());
    const std::string next = farm.fresh();
    REQUIRE(farm.renew("bede", held, next).has_value());
    REQUIRE(farm.renew("bede", next, farm.fresh()).has_value());
    CHECK(farm.said(farm.renew("bede", held, next)) == "403 agent.reused");
}

TEST_CASE("what an agent may not send is refused by name, and changes nothing") {
    AgentFixture farm;
    const std::string code = farm.code_for("bede");
    const std::string wrong = farm.id_of(code) + "_" + std::string(64, '0');
    const std::string fresh = farm.fresh();
    const auto whole = [&](const std::string& members) {
        return R"({"format":"wheelyard.agent_renewal/1",)" + members + "}";
    };
    CHECK(farm.said(farm.renew("bede", wrong, fresh)) == "403 agent.unknown");
    CHECK(farm.said(farm.renew("bede", fresh, farm.fresh())) == "403 agent.unknown");
    CHECK(farm.said(farm.renew("bede", farm.token, fresh)) == "403 agent.unknown");  // an operator's token
    const std::string own = farm.token_of(farm.renew("archer2", farm.code_for("archer2"), farm.fresh()));
    CHECK(farm.said(farm.renew("archer2", own, fresh)) == "403 agent.unknown");  // an agent's
    CHECK(farm.said(farm.renew("archer2", code, fresh)) == "403 agent.site");
    CHECK(farm.said(farm.renew("", code, fresh)) == "403 agent.site");
    CHECK(farm.said(farm.renew("bede", code, code)) == "409 agent.next_taken");
    CHECK(farm.said(farm.renew("bede", code, farm.token)) == "409 agent.next_taken");
    for (const std::string& body :
         {std::string(), std::string("[]"), std::string("{not json"),
          std::string(R"({"format":"wheelyard.change/1"})"), whole(R"("site":"bede")"),
          whole(R"("site":"bede","credential":")" + code + "\""),
          whole(R"("site":"bede","credential":")" + code + R"(","next":"x")"),
          whole(R"("site":"bede","credential":7,"next":")" + fresh + "\""),
          whole(R"("site":"bede","credential":")" + code + R"(","credential":")" + code + R"(","next":")" +
                fresh + "\"")}) {
        CAPTURE(body);
        CHECK(farm.said(farm.send(body)) == "400 agent.body");
    }
    farm.clock.sleep_ms(59LL * 60 * 1000);
    CHECK(farm.said(farm.renew("bede", code, fresh)) == "200");
    const std::string late = farm.code_for("lumi");
    farm.clock.sleep_ms(60LL * 60 * 1000);
    CHECK(farm.said(farm.renew("lumi", late, farm.fresh())) == "403 agent.ended");
}

TEST_CASE("who has neither a code nor a renewal is refused without the writer") {
    AgentFixture farm;
    std::promise<void> begun;
    std::promise<void> answered;
    std::atomic<bool> was_answered = false;
    std::thread busy([&, end = answered.get_future()] {
        const auto done = farm.writer.run([&](catalog::Catalog&) -> base::Status {
            begun.set_value();
            was_answered = end.wait_for(std::chrono::seconds(20)) == std::future_status::ready;
            return {};
        });
        CHECK(done.has_value());
    });
    begun.get_future().wait();
    const auto said = farm.said(farm.renew("bede", farm.fresh(), farm.fresh()));
    answered.set_value();
    busy.join();
    CHECK(said == "403 agent.unknown");
    CHECK(was_answered);
}

TEST_CASE("a new enrolment ends the one before") {
    AgentFixture farm;
    const std::string before = farm.fresh();
    const std::string text = farm.token_of(farm.renew("bede", farm.code_for("bede"), before));
    REQUIRE(farm.renew("bede", farm.code_for("bede"), farm.fresh()).has_value());
    CHECK_FALSE(farm.refusal_of(text).empty());
    CHECK(farm.said(farm.renew("bede", before, farm.fresh())) == "403 agent.ended");
}

TEST_CASE("a renewal of an enrolment that has ended does nothing to a later one, also if it was replaced") {
    for (const bool is_revoked : {false, true}) {
        CAPTURE(is_revoked);
        AgentFixture farm;
        const std::string first = farm.fresh();
        const std::string second = farm.fresh();
        const std::string later = farm.fresh();
        REQUIRE(farm.renew("bede", farm.code_for("bede"), first).has_value());
        const std::string before = farm.token_of(farm.renew("bede", first, second));
        if (is_revoked) {
            REQUIRE(
                registry::revoke_with_made(farm.cli, farm.id_of(before), {"local:root", {}, farm.clock.now()})
                    .value());
        }
        const std::string text = farm.token_of(farm.renew("bede", farm.code_for("bede"), later));
        // Of the last pair: the answer was lost, and so was that of the later enrolment.
        for (const std::string& next : {farm.fresh(), second}) {
            CHECK(farm.said(farm.renew("bede", first, next)) == "403 agent.ended");
            CHECK(farm.refusal_of(text).empty());
        }
        CHECK(farm.said(farm.renew("bede", later, farm.fresh())) == "200");
    }
}

TEST_CASE("whichever row of an agent is revoked, all end; what another agent has stays") {
    for (const std::string row_name : {"agent:bede code", "agent:bede renewal", "agent:bede"}) {
        CAPTURE(row_name);
        AgentFixture farm;
        const std::string other = farm.token_of(farm.renew("bede-2", farm.code_for("bede-2"), farm.fresh()));
        const std::string renewal = farm.fresh();
        const std::string text = farm.token_of(farm.renew("bede", farm.code_for("bede"), renewal));
        const std::string unused = farm.code_for("bede");
        const auto rows = farm.cli.tokens().value();
        const auto row = std::find_if(rows.begin(), rows.end(),
                                      [&](const auto& one) { return one.name == row_name && !one.revoked; });
        REQUIRE(row != rows.end());
        CHECK(registry::revoke_with_made(farm.cli, row->id, {"local:root", {}, farm.clock.now()}).value());
        CHECK_FALSE(farm.refusal_of(text).empty());
        CHECK(farm.said(farm.renew("bede", renewal, farm.fresh())) == "403 agent.ended");
        CHECK(farm.said(farm.renew("bede", unused, farm.fresh())) == "403 agent.ended");
        CHECK(farm.refusal_of(other).empty());
    }
}

TEST_CASE("a token that an agent made ends with the agent") {
    AgentFixture farm;
    const registry::TokenText text = registry::make_token_text();
    const auto scope = registry::make_token_row({"bede", {"main"}, {}, {"token", "upload"}}, {"main"}, text,
                                                {"local:root", {}, farm.clock.now()});
    REQUIRE(farm.cli.add_token(registry::make_agent_code(*scope, text, "bede")));
    const std::string own = farm.token_of(farm.renew("bede", text.text(), farm.fresh()));
    http::ApiRequest request{.request_id = "r1", .operation = "createToken"};
    request.authorization = "Bearer " + own;
    request.body = R"({"format":"wheelyard.token_request/1","name":"mine","indexes":["main"]})";
    registry::Api api(farm.parts());
    const std::string made = farm.token_of(api.answer(request));
    CHECK(farm.refusal_of(made).empty());
    CHECK(
        registry::revoke_with_made(farm.cli, farm.id_of(own), {"local:root", {}, farm.clock.now()}).value());
    CHECK_FALSE(farm.refusal_of(made).empty());
}

TEST_CASE("an agent speaks for its own site; a token of the same name that an operator made speaks for any") {
    AgentFixture farm;
    const std::string text = farm.token_of(farm.renew("bede", farm.code_for("bede"), farm.fresh()));
    const auto agent = farm.tokens->verify("Bearer " + text);
    CHECK(registry::may_report(*agent, "main", "bede"));
    CHECK_FALSE(registry::may_report(*agent, "main", "bede-2"));
    CHECK_FALSE(registry::may_report(*agent, "main", ""));
    CHECK_FALSE(registry::may_report(*agent, "other", "bede"));
    const auto operators = farm.tokens->verify("Bearer " + farm.add_token({"main"}, {"*"}, "agent:bede"));
    CHECK(registry::may_report(*operators, "main", "bede-2"));
    const auto may_build = [&](const std::string& projects) {
        const std::string own = farm.make_token("builder", {"main"}, {projects}, {"build"});
        return registry::may_report(*farm.tokens->verify("Bearer " + own), "main", "bede-2");
    };
    CHECK(may_build("*"));
    CHECK_FALSE(may_build("torch"));
}

TEST_CASE("rows of an agent have a limit, which no code reaches, and what was replaced goes after a month") {
    AgentFixture farm;
    std::string held = farm.fresh();
    REQUIRE(farm.renew("bede", farm.code_for("bede"), held).has_value());
    std::string said = "200";
    std::size_t renewals = 0;
    while (said == "200" && renewals <= registry::max_rows_of_agent) {
        const std::string next = farm.fresh();
        said = farm.said(farm.renew("bede", held, next));
        if (said == "200") held = next;
        ++renewals;
    }
    CHECK(said == "429 agent.too_many");
    CHECK(farm.said(farm.renew("lumi", farm.code_for("lumi"), farm.fresh())) == "200");
    const auto drop = [&farm] {
        REQUIRE(farm.cli.drop_tokens(registry::log_ins_to_drop(farm.cli.tokens().value(), farm.clock.now())));
    };
    farm.clock.sleep_ms(30LL * 24 * 3600 * 1000 - 1);
    const auto before = farm.cli.tokens()->size();
    drop();
    CHECK(farm.cli.tokens()->size() < before);  // tokens that ended
    CHECK(farm.cli.tokens()->size() > registry::max_rows_of_agent / 3);
    farm.clock.sleep_ms(1);
    drop();
    CHECK(farm.cli.tokens()->size() == 3);  // the fixture's, and the renewals of two agents
    CHECK(farm.said(farm.renew("bede", held, farm.fresh())) == "200");
    CHECK(farm.said(farm.renew("bede", held, farm.fresh())) == "403 agent.reused");
    CHECK(farm.said(farm.renew("bede", farm.code_for("bede"), farm.fresh())) == "200");
}
