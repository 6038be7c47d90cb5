// Indexes over HTTP: who may change them, what a body may say, and what the reply has.
#include "registry/api/index_api.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <vector>

#include "tests/registry/upload_fixture.hpp"

using namespace wheelyard;
using registry::IndexEdit;
using test_support::RegistryFixture;

namespace {

// Remembers what it was asked, and answers what the test wants.
struct FakeIndexes final : registry::IndexService {
    base::Result<registry::IndexesChanged> change(const IndexEdit& edit, const registry::IndexCaller& caller,
                                                  bool dry_run) override {
        ++asked;
        last = edit;
        last_actor = caller.name;
        if (fails) return base::fail(*fails);
        auto tables = registry::edit_tables(present, edit);
        if (!tables) return base::fail(tables.error());
        return registry::IndexesChanged{{{edit.index, "quota_mib", "0", "5"}}, *tables, dry_run ? 0 : 7};
    }
    std::string_view decided_by_word() const override { return "file"; }

    int asked = 0;
    IndexEdit last;
    std::string last_actor;
    std::optional<base::Error> fails;
    io::Json present = io::Json::array();
};

struct IndexFixture : RegistryFixture {
    FakeIndexes indexes;
    registry::Api api{[this] {
        registry::ApiParts of_index = parts();
        of_index.indexes = &indexes;
        return of_index;
    }()};
    std::string admin = make_token("admin", {"*"}, {"*"}, {"index"});

    IndexFixture() { indexes.present = config.index_tables; }
    wire::Answered<http::ApiReply> ask(const std::string& operation, const std::string& caller,
                                       const std::string& body = {}, const std::string& index = "main") {
        http::ApiRequest request{.request_id = "r1", .operation = operation};
        request.parameters.emplace("index", index);
        request.authorization = "Bearer " + caller;
        request.body = body;
        return api.answer(request);
    }
    // "200", or "403 auth.scope_refused".
    std::string set(const std::string& members, const std::string& index = "main") {
        const auto answer = ask("setIndex", admin, body(members), index);
        return answer ? "200" : std::to_string(answer.error().status) + " " + answer.error().code;
    }
    static std::string body(const std::string& members) {
        return R"({"format":"wheelyard.index_change/1",)" + members + "}";
    }
};

constexpr const char* quota = R"("keys":{"quota_mib":5})";

}  // namespace

TEST_CASE("only a token with the action `index` for all indexes and projects sees and changes indexes") {
    IndexFixture farm;
    const std::vector<std::string> refused{
        farm.make_token("uploader", {"*"}, {"*"}, {"upload", "token", "promote", "audit"}),
        farm.make_token("of-one-index", {"main"}, {"*"}, {"index"}),
        farm.make_token("of-one-project", {"*"}, {"six"}, {"index"})};
    for (const std::string& token : refused) {
        for (const char* operation : {"describeIndexes", "describeIndex", "createIndex", "setIndex"}) {
            const auto answer = farm.ask(operation, token, IndexFixture::body(quota));
            REQUIRE_FALSE(answer.has_value());
            CHECK(answer.error().code == "auth.scope_refused");
        }
    }
    CHECK(farm.indexes.asked == 0);
    // Whatever the token: the file is this machine's.
    CHECK(farm.ask("applyIndexes", farm.admin, "{}").error().code == "request.operation");
    CHECK(farm.set(quota) == "200");
    CHECK(farm.indexes.last_actor == "admin");
    CHECK(farm.ask("setIndex", farm.make_token("all", {"*"}, {"*"}, {"*"}), IndexFixture::body(quota))
              .has_value());
}

TEST_CASE("a body is read strictly, and nothing is changed for a wrong one") {
    IndexFixture farm;
    const std::vector<std::string> wrong{R"("key":{})",
                                         R"("keys":[])",
                                         R"("keys":{},"dryrun":true)",
                                         R"("keys":{},"dry_run":"yes")",
                                         R"("keys":{},"revision":7)",
                                         R"("quota_mib":5)"};
    for (const std::string& members : wrong)
        CHECK_MESSAGE(farm.set(members) == "400 index.body", members);
    const auto misspelt = farm.ask("setIndex", farm.admin, IndexFixture::body(R"("keys":{},"dryrun":true)"));
    CHECK(misspelt.error().detail.find("did you mean `dry_run`?") != std::string::npos);
    CHECK_FALSE(farm.ask("setIndex", farm.admin, R"({"format":"wheelyard.change/1","keys":{}})").has_value());
    CHECK_FALSE(farm.ask("setIndex", farm.admin, "[]").has_value());
    CHECK_FALSE(farm.ask("setIndex", farm.admin, "").has_value());
    CHECK(farm.indexes.asked == 0);
    CHECK(farm.set(quota, "nobody") == "404 index.unknown");
}

TEST_CASE("an index is created by the name among its keys") {
    IndexFixture farm;
    const auto answer =
        farm.ask("createIndex", farm.admin, IndexFixture::body(R"("keys":{"name":"gpu","title":"T"})"), "");
    REQUIRE(answer.has_value());
    CHECK(farm.indexes.last.index == "gpu");
    CHECK(farm.indexes.last.kind == IndexEdit::Kind::create);
    const auto reply = io::parse_json(answer->json).value();
    CHECK(reply.string_or("format", "") == "wheelyard.index_changed/1");
    CHECK(reply.string_or("revision", "").size() == 16);
    CHECK(reply.bool_or("changed", false));
    CHECK(answer->when_visible != nullptr);
}

TEST_CASE("a dry run says what would change, and waits for no page") {
    IndexFixture farm;
    const auto answer =
        farm.ask("setIndex", farm.admin, IndexFixture::body(R"("keys":{"quota_mib":5},"dry_run":true)"));
    REQUIRE(answer.has_value());
    const auto reply = io::parse_json(answer->json).value();
    CHECK(reply.bool_or("dry_run", false));
    CHECK_FALSE(reply.bool_or("changed", true));
    CHECK(reply.items("changes").front().string_or("change", "") == "quota_mib: 0 -> 5");
    CHECK(answer->when_visible == nullptr);
}

TEST_CASE("refusals have their statuses") {
    IndexFixture farm;
    const auto fails = [&](base::ErrorKind kind, const char* code) {
        farm.indexes.fails = base::Error{.code = code, .sentence = "No", .kind = kind};
        return farm.set(quota);
    };
    CHECK(fails(base::ErrorKind::refused, "index.upstream_place") == "403 index.upstream_place");
    CHECK(fails(base::ErrorKind::conflict, "index.exists") == "409 index.exists");
    CHECK(fails(base::ErrorKind::invalid, "index.x") == "400 index.x");
    CHECK(fails(base::ErrorKind::missing, "index.unknown") == "404 index.unknown");
    // What another server lacks is no refusal of this one.
    CHECK(fails(base::ErrorKind::missing, "index.x") == "500 lifecycle.failed");
    farm.indexes.fails.reset();
    CHECK(farm.set(R"("keys":{"quota_mib":5},"revision":"0123456789abcdef")") == "409 index.changed");
    CHECK(farm.set(R"("keys":{"name":"other"})") == "400 index.name");
}

TEST_CASE("an index is described with its keys and its revision") {
    IndexFixture farm;
    const auto one = farm.ask("describeIndex", farm.admin);
    REQUIRE(one.has_value());
    const auto index = io::parse_json(one->json).value();
    CHECK(index.string_or("name", "") == "main");
    REQUIRE(index.find("keys") != nullptr);
    CHECK(index.find("keys")->int_or("max_file_mib", 0) == 1);
    const std::string revision = index.string_or("revision", "");
    CHECK(farm.set(R"("keys":{"quota_mib":5},"revision":")" + revision + "\"") == "200");
    const auto all = io::parse_json(farm.ask("describeIndexes", farm.admin)->json).value();
    CHECK(all.string_or("decided_by", "") == "file");
    CHECK(all.items("indexes").size() == 2);
    CHECK(all.items("indexes").front() == index);
}
