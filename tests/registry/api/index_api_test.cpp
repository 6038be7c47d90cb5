// Indexes over HTTP: who may see them; and how a command of this machine applies the file.
#include "registry/api/index_api.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "registry/config/index_tables.hpp"
#include "tests/registry/upload_fixture.hpp"

using namespace wheelyard;
using test_support::RegistryFixture;

namespace {

// Remembers what it was asked, and answers what the test wants.
struct FakeIndexes final : registry::IndexService {
    base::Result<registry::IndexesChanged> apply(const registry::IndexOrder& order) override {
        last = order;
        if (fails) return base::fail(*fails);
        return registry::IndexesChanged{{{"main", "quota_mib", "0", "5"}}, order.dry_run ? 0 : 7, "seen"};
    }
    registry::IndexOrder last;
    std::optional<base::Error> fails;
};

struct IndexFixture : RegistryFixture {
    FakeIndexes indexes;
    registry::Api api{[this] {
        registry::ApiParts of_index = parts();
        of_index.indexes = &indexes;
        return of_index;
    }()};
    std::string admin = make_token("admin", {"*"}, {"*"}, {"index"});

    wire::Answered<http::ApiReply> ask(const std::string& operation, const std::string& caller) {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        request.parameters.emplace("index", "main");
        request.authorization = "Bearer " + caller;
        request.body = "{}";
        return api.answer(request);
    }
    wire::Answered<http::ApiReply> apply(const std::string& arguments) {
        return api.answer_locally("applyIndexes", io::parse_json(arguments).value(), "local:me");
    }
};

}  // namespace

TEST_CASE(
    "only a token with the action `index` for all indexes and projects sees indexes, and none changes them") {
    IndexFixture farm;
    const std::vector<std::string> refused{
        farm.make_token("uploader", {"*"}, {"*"}, {"upload", "token", "promote", "audit"}),
        farm.make_token("of-one-index", {"main"}, {"*"}, {"index"}),
        farm.make_token("of-one-project", {"*"}, {"six"}, {"index"})};
    for (const std::string& token : refused) {
        for (const char* operation : {"describeIndexes", "describeIndex"}) {
            const auto answer = farm.ask(operation, token);
            REQUIRE_FALSE(answer.has_value());
            CHECK(answer.error().code == "auth.scope_refused");
        }
    }
    CHECK(farm.ask("describeIndex", farm.make_token("all", {"*"}, {"*"}, {"*"})).has_value());
    // Whatever the token: the file is this machine's.
    CHECK(farm.ask("applyIndexes", farm.admin).error().code == "request.operation");
}

TEST_CASE("an index is described with its keys") {
    IndexFixture farm;
    const auto one = farm.ask("describeIndex", farm.admin);
    REQUIRE(one.has_value());
    const auto index = io::parse_json(one->json).value();
    CHECK(index.string_or("name", "") == "main");
    REQUIRE(index.find("keys") != nullptr);
    CHECK(index.find("keys")->int_or("max_file_mib", 0) == 1);
    const auto all = io::parse_json(farm.ask("describeIndexes", farm.admin)->json).value();
    CHECK(all.items("indexes").size() == 2);
    CHECK(all.items("indexes").front() == index);
}

TEST_CASE("the file is applied in the name of who asks, and the answer waits for the pages") {
    IndexFixture farm;
    const auto answer = farm.apply(R"({"indexes":[{"name":"main"}],"before":"seen"})");
    REQUIRE(answer.has_value());
    CHECK(farm.indexes.last.actor == "local:me");
    CHECK(farm.indexes.last.before == "seen");
    CHECK(farm.indexes.last.tables.items().size() == 1);
    const auto reply = io::parse_json(answer->json).value();
    CHECK(reply.string_or("format", "") == "wheelyard.index_changed/1");
    CHECK(reply.bool_or("changed", false));
    CHECK(answer->when_visible != nullptr);
}

TEST_CASE("a dry run says what would change, and waits for no page") {
    IndexFixture farm;
    const auto answer = farm.apply(R"({"indexes":[],"dry_run":true})");
    REQUIRE(answer.has_value());
    const auto reply = io::parse_json(answer->json).value();
    CHECK(reply.bool_or("dry_run", false));
    CHECK_FALSE(reply.bool_or("changed", true));
    CHECK(reply.items("changes").front().string_or("change", "") == "quota_mib: 0 -> 5");
    CHECK(answer->when_visible == nullptr);
}

TEST_CASE("a file is applied only to the indexes that its caller has seen") {
    const auto in_force = io::parse_json(R"([{"name":"main"}])").value();
    registry::IndexOrder order;
    CHECK(registry::check_before(order, in_force).has_value());
    order.before = registry::revision_of(in_force);
    CHECK(registry::check_before(order, in_force).has_value());
    order.before = "other";
    CHECK(registry::check_before(order, in_force).error().code == "index.changed");
}
