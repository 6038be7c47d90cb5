// Attestations of an upload, and origins that an index asks for.
#include "registry/intake/attestations.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "lib/base/files/file.hpp"
#include "lib/base/limits.hpp"
#include "registry/config/config.hpp"

using namespace wheelyard;
using registry::check_attestations;
using registry::check_origin;
using registry::IndexConfig;
using registry::parse_config;

namespace {

const std::string circleci_wheel = "circleci_sign_publish_example-0.0.1.dev137-py3-none-any.whl";
const std::string circleci_sha256 = "8cb34da1e27336f11a2c43f3f9c7433bd76f24f470c904724f06ad7f131d9e9f";

std::string circleci_field() {
    return "[" +
           base::read_file(std::string(WHEELYARD_TEST_DATA) + "/attest/sigstore/data/" + circleci_wheel +
                               ".publish.attestation",
                           base::mib)
               .value() +
           "]";
}

IndexConfig index_that_asks(const std::string& tables) {
    const auto config = parse_config(
        "config_version = 1\n[store]\ndirectory = \"data\"\n[[index]]\nname = \"main\"\n" + tables,
        "registry.toml");
    REQUIRE_MESSAGE(config, config.error().text());
    return config->indexes.front();
}

sigstore::Attested attested_by_github() {
    sigstore::Attested one;
    one.identity.issuer = "https://token.actions.githubusercontent.com";
    one.identity.repository = "https://github.com/octo-org/demo";
    one.identity.ref = "refs/tags/v1";
    one.identity.build_config = "https://github.com/octo-org/demo/.github/workflows/release.yml@refs/tags/v1";
    one.identity.subject = one.identity.build_config;
    return one;
}

registry::Origin origin_of_demo(const std::vector<sigstore::Attested>& attested, std::string agent = {}) {
    registry::Origin origin{.project = "demo", .agent = std::move(agent)};
    for (const sigstore::Attested& one : attested)
        origin.attested.push(sigstore::record_of(one));
    return origin;
}

}  // namespace

TEST_CASE("the attestations of a form are verified, and none are none") {
    for (const std::string field : {"", " ", "[]", " [ ] "}) {
        const auto none = check_attestations(field, circleci_wheel, circleci_sha256, sigstore::public_root());
        REQUIRE(none);
        CHECK(none->document.empty());
    }
    const auto real =
        check_attestations(circleci_field(), circleci_wheel, circleci_sha256, sigstore::public_root());
    REQUIRE(real);
    CHECK(sigstore::record_of(real->attested.front()).string_or("repository", "") ==
          "github.com/CircleCI-Public/sign-and-publish-examples");
    const auto other =
        check_attestations(circleci_field(), circleci_wheel, std::string(64, 'a'), sigstore::public_root());
    REQUIRE_FALSE(other);
    CHECK(other.error().status == 400);
    CHECK(other.error().code == "upload.attestations");
    CHECK(other.error().value == "attestation.other_file: " + circleci_sha256);
}

TEST_CASE("a table of origins names agents, or a publisher by what a certificate has") {
    const auto fault = [](const std::string& keys) {
        const auto config = parse_config(
            "config_version = 1\n[store]\ndirectory = \"data\"\n[[index]]\nname = \"main\"\n"
            "[[index.attested_by]]\n" +
                keys,
            "registry.toml");
        return config ? std::string() : config.error().text();
    };
    const std::string issuer = "issuer = \"https://gitlab.com\"\n";
    CHECK(fault("").find("a publisher by its issuer") != std::string::npos);
    CHECK(fault(issuer).find("a publisher by its issuer") != std::string::npos);
    CHECK(fault("repository = \"https://gitlab.com/a/b\"").find("a publisher by its issuer") !=
          std::string::npos);
    CHECK(fault("agents = [\"*\"]\n" + issuer).find("a publisher by its issuer") != std::string::npos);
    CHECK(fault(issuer + "subject = \"a\"\nworkflow = \"b\"").find("a file of the repository") !=
          std::string::npos);
    for (const std::string subject : {"*", "https://gitlab.com/*", "https://gitlab.com/a//b@refs/*/v1"})
        CHECK(fault(issuer + "subject = \"" + subject + "\"").find("only its ref may end in") !=
              std::string::npos);
    CHECK(fault(issuer + "subject = \"https://gitlab.com/a//b@refs/tags/*\"").empty());
}

TEST_CASE("an index takes files of the origins that it names, each for its projects") {
    const std::string github = "issuer = \"https://token.actions.githubusercontent.com\"\n";
    const std::string demo = "repository = \"https://github.com/octo-org/demo\"\n";
    const std::string workflow = "https://github.com/octo-org/demo/.github/workflows/release.yml";
    struct Row {
        std::string tables;
        std::string agent;
        bool is_attested;
        bool is_taken;
    };
    const std::vector<Row> rows{
        {"", "", false, true},
        {"[[index.attested_by]]\n" + github + demo, "", true, true},
        {"[[index.attested_by]]\n" + github + demo, "", false, false},
        {"[[index.attested_by]]\n" + github + demo, "wy_1", false, false},
        {"[[index.attested_by]]\nissuer = \"https://gitlab.com\"\n" + demo, "", true, false},
        {"[[index.attested_by]]\n" + github + "repository = \"https://github.com/octo-org\"\n", "", true,
         false},
        {"[[index.attested_by]]\n" + github + demo + "workflow = \".github/workflows/release.yml\"\n", "",
         true, true},
        {"[[index.attested_by]]\n" + github + demo + "workflow = \".github/workflows/test.yml\"\n", "", true,
         false},
        {"[[index.attested_by]]\n" + github + demo + "projects = [\"Demo\"]\n", "", true, true},
        {"[[index.attested_by]]\n" + github + demo + "projects = [\"other\"]\n", "", true, false},
        {"[[index.attested_by]]\n" + github + "subject = \"" + workflow + "@refs/tags/v1\"\n", "", true,
         true},
        {"[[index.attested_by]]\n" + github + "subject = \"" + workflow + "@refs/tags/*\"\n", "", true, true},
        {"[[index.attested_by]]\n" + github + "subject = \"" + workflow + "@refs/heads/*\"\n", "", true,
         false},
        {"[[index.attested_by]]\n" + github + "subject = \"" + workflow + "@refs/tags/v\"\n", "", true,
         false},
        {"[[index.attested_by]]\nagents = [\"wy_1\", \"wy_2\"]\n", "wy_2", false, true},
        {"[[index.attested_by]]\nagents = [\"wy_1\"]\n", "wy_2", false, false},
        {"[[index.attested_by]]\nagents = [\"wy_1\"]\n", "", true, false},
        {"[[index.attested_by]]\nagents = [\"wy_1\", \"agent:bede\"]\n", "agent:bede", false, true},
        {"[[index.attested_by]]\nagents = [\"agent:bede\"]\n", "agent:bede-2", false, false},
        {"[[index.attested_by]]\nagents = [\"*\"]\n", "wy_2", false, true},
        {"[[index.attested_by]]\nagents = [\"*\"]\n", "", false, false},
        {"[[index.attested_by]]\nagents = [\"wy_1\"]\n[[index.attested_by]]\n" + github + demo, "", true,
         true},
    };
    for (const Row& row : rows) {
        CAPTURE(row.tables);
        CAPTURE(row.agent);
        const std::vector<sigstore::Attested> attested =
            row.is_attested ? std::vector{attested_by_github()} : std::vector<sigstore::Attested>();
        const auto answer = check_origin(index_that_asks(row.tables), origin_of_demo(attested, row.agent));
        CHECK(answer.has_value() == row.is_taken);
        if (!answer) CHECK(answer.error().code == "upload.not_attested");
    }
    sigstore::Attested pushed = attested_by_github();
    const IndexConfig index = index_that_asks("[[index.attested_by]]\n" + github + demo);
    CHECK(check_origin(index, origin_of_demo({pushed})).has_value());
    pushed.identity.trigger = "push";
    pushed.identity.ref = "refs/heads/main";
    CHECK(check_origin(index, origin_of_demo({pushed})).has_value());
}

TEST_CASE("no job of a request to merge fits, and none that may follow one") {
    const IndexConfig index = index_that_asks(
        "[[index.attested_by]]\nissuer = \"https://token.actions.githubusercontent.com\"\n"
        "repository = \"https://github.com/octo-org/demo\"\n");
    struct Row {
        std::string trigger;
        std::string ref;
    };
    const std::vector<Row> refused{
        {"pull_request", "refs/heads/main"},        {"pull_request_target", "refs/heads/main"},
        {"workflow_run", "refs/heads/main"},        {"issue_comment", "refs/heads/main"},
        {"merge_request_event", "refs/heads/main"}, {"external_pull_request_event", "refs/heads/main"},
        {"parent_pipeline", "refs/heads/main"},     {"push", "refs/pull/7/merge"},
        {"push", "refs/merge-requests/7/head"},
    };
    for (const Row& row : refused) {
        CAPTURE(row.trigger);
        CAPTURE(row.ref);
        sigstore::Attested one = attested_by_github();
        one.identity.trigger = row.trigger;
        one.identity.ref = row.ref;
        CHECK_FALSE(check_origin(index, origin_of_demo({one})).has_value());
    }
}

TEST_CASE("an index asks files that another index has for what their upload proved") {
    const auto config = parse_config(
        "config_version = 1\n[store]\ndirectory = \"data\"\n[[index]]\nname = \"staging\"\n"
        "[[index]]\nname = \"main\"\n[[index.attested_by]]\nagents = [\"agent:bede\"]\n"
        "[[index.attested_by]]\nissuer = \"https://token.actions.githubusercontent.com\"\n"
        "repository = \"https://github.com/octo-org/demo\"\nworkflow = \".github/workflows/release.yml\"\n",
        "registry.toml");
    REQUIRE_MESSAGE(config, config.error().text());
    const std::string record = sigstore::record_of(attested_by_github()).render();
    struct Row {
        std::string facts;
        bool is_taken;
    };
    const std::vector<Row> rows{
        {"{}", false},
        {R"({"stated_by":"agent:bede"})", true},
        {R"({"stated_by":"agent:other"})", false},
        {R"({"attested":[)" + record + "]}", true},
        {R"({"attested":[]})", false},
        {R"({"attested":"agent:bede"})", false},
        {"no JSON", false},
    };
    for (const Row& row : rows) {
        CAPTURE(row.facts);
        catalog::FileRow file;
        file.project = "demo";
        file.facts_json = row.facts;
        file.uploaded_by = "agent:bede";  // who uploaded it is no proof of what made it
        CHECK(check_origin(*config, "main", file).has_value() == row.is_taken);
        CHECK(check_origin(*config, "staging", file).has_value());
        CHECK(check_origin(*config, "main.pypi", file).has_value());  // the cache of an upstream
    }
}
