// What a token may do, for one that may and one for another index.

#include <doctest/doctest.h>

#include <string>

#include "lib/io/json.hpp"
#include "registry/access/tokens.hpp"
#include "tests/registry/upload_fixture.hpp"

using namespace wheelyard;
using test_support::RegistryFixture;

namespace {

struct AccessFixture : RegistryFixture {
    std::string add(const std::vector<std::string>& indexes, const std::vector<std::string>& projects,
                    const std::vector<std::string>& actions, base::UnixMicros lifetime = 60'000'000) {
        return make_token("agent", indexes, projects, actions, lifetime == 0 ? 0 : clock.now() + lifetime);
    }
    wire::Answered<http::ApiReply> ask(const std::string& sent) {
        http::ApiRequest request{.request_id = "r1", .operation = "showAccess"};
        request.parameters.emplace("index", "main");
        request.authorization = "Bearer " + sent;
        return registry::Api(parts()).answer(request);
    }
    io::Json shown(const std::string& sent) {
        const auto reply = ask(sent);
        REQUIRE(reply.has_value());
        const auto json = io::parse_json(reply->json);
        REQUIRE(json.has_value());
        return *json;
    }
};

}  // namespace

TEST_CASE_FIXTURE(AccessFixture, "a token is shown its actions, its projects and its end") {
    const std::string made = add({"main"}, {"torch", "demo"}, {"upload", "yank"});
    const io::Json json = shown(made);
    CHECK(json.string_or("format", "") == "wheelyard.access/1");
    CHECK(json.string_or("token", "") == made.substr(0, registry::token_id_length));
    CHECK(json.string_or("name", "") == "agent");
    CHECK(json.string_or("index", "") == "main");
    CHECK(json.texts("actions") == std::vector<std::string>{"upload", "yank"});
    CHECK(json.texts("projects") == std::vector<std::string>{"torch", "demo"});
    CHECK(json.string_or("expires", "") == base::render_rfc3339(clock.now() + 60'000'000));
    CHECK(ask(made)->json.find(made.substr(registry::token_id_length)) == std::string::npos);
}

TEST_CASE_FIXTURE(AccessFixture,
                  "the store has an ID from its first publication on, which another store has not") {
    const auto store_of = [](AccessFixture& farm, const std::string& asked) {
        const io::Json json = farm.shown(asked);
        REQUIRE(json.find("store") != nullptr);
        return json.string_or("store", "");
    };
    const std::string made = add({"main"}, {"*"}, {"upload"});
    CHECK(store_of(*this, made).empty());
    REQUIRE(send(test_support::Form::of(test_support::WheelWriter("demo", "1.0"))).status == 200);
    const std::string first = store_of(*this, made);
    CHECK(first.size() == 64);
    clock.sleep_ms(1);
    REQUIRE(send(test_support::Form::of(test_support::WheelWriter("more", "1.0"))).status == 200);
    CHECK(store_of(*this, made) == first);

    AccessFixture other;  // the same wheel, a moment later
    const std::string others = other.add({"main"}, {"*"}, {"upload"});
    other.clock.sleep_ms(1);
    REQUIRE(other.send(test_support::Form::of(test_support::WheelWriter("demo", "1.0"))).status == 200);
    CHECK(store_of(other, others) != first);
}

TEST_CASE_FIXTURE(AccessFixture, "a token without an end has none") {
    const std::string made = add({"main"}, {"*"}, {"upload"}, 0);
    CHECK(ask(made)->json.find("\"expires\":null") != std::string::npos);
}

TEST_CASE_FIXTURE(AccessFixture, "a token for another index may do nothing here") {
    CHECK(shown(add({"elsewhere"}, {"*"}, {"upload"})).texts("actions").empty());
    CHECK(shown(add({"*"}, {"*"}, {"upload"})).texts("actions") == std::vector<std::string>{"upload"});
}
