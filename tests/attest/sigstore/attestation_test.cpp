// Real attestations, forged ones of a private instance, and changed bytes of a real one.
#include "lib/attest/sigstore/attestation.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "lib/attest/sigstore/limits.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/text/text.hpp"
#include "tests/support/sample.hpp"

namespace wheelyard::sigstore {
namespace {

using io::Json;

std::string data_of(const std::string& name) {
    return base::read_file(std::string(WHEELYARD_TEST_DATA) + "/attest/sigstore/data/" + name, 4 * base::mib)
        .value();
}

struct Real {
    std::string file;
    std::string suffix;
    std::string sha256;
    std::string publisher;
};

// Publishers as the public index recorded them for these files.
const std::vector<Real> real_ones{
    {"circleci_sign_publish_example-0.0.1.dev137-py3-none-any.whl", ".publish.attestation",
     "8cb34da1e27336f11a2c43f3f9c7433bd76f24f470c904724f06ad7f131d9e9f",
     R"({"kind":"CircleCI","project_id":"fdd9283f-e619-46af-8f9c-851f7d3e8b2b",)"
     R"("pipeline_definition_id":"8e4f8ab2-8d7c-4827-9f15-de076d6d647f",)"
     R"("vcs_origin":"github.com/CircleCI-Public/sign-and-publish-examples","vcs_ref":"refs/heads/pypi"})"},
    {"gitlab_oidc_project-0.0.3.tar.gz", ".publish.attestation",
     "c1ca9b0d85df1606451098233018534497bf584362e10e4a8c21dfaea92c02a8",
     R"({"kind":"GitLab","repository":"facutuesca/gitlab-oidc-project","workflow_filepath":".gitlab-ci.yml"})"},
    {"pypi_attestations-0.0.19.tar.gz", ".publish.attestation",
     "9bb1add04b1b4e182be6b0b80931593f7a291eb49d69b4fd728a5d4cbcdc4bd3",
     R"({"kind":"GitHub","repository":"trailofbits/pypi-attestations","workflow":"release.yml"})"},
    {"pypi_attestations-0.0.19.tar.gz", ".slsa.attestation",
     "9bb1add04b1b4e182be6b0b80931593f7a291eb49d69b4fd728a5d4cbcdc4bd3",
     R"({"kind":"GitHub","repository":"trailofbits/pypi-attestations","workflow":"release.yml"})"},
};

std::string code_of(const Json& attestation, const std::string& file, const std::string& sha256,
                    const TrustedRoot& root) {
    const auto attested = verify_attestation(attestation, file, sha256, root);
    return attested ? std::string("ok") : attested.error().code;
}

}  // namespace

TEST_CASE(
    "real attestations of the public instance are accepted, and the publisher is the one that the index "
    "recorded") {
    for (const Real& real : real_ones) {
        CAPTURE(real.file + real.suffix);
        const Json json = io::parse_json(data_of(real.file + real.suffix)).value();
        const auto attested = verify_attestation(json, real.file, real.sha256, public_root());
        REQUIRE_MESSAGE(attested, attested.error().text());
        CHECK(publisher_of(attested->identity).render() == real.publisher);
    }
}

TEST_CASE(
    "a publisher is known by what its provider alone can say, and no job of a request to merge is one") {
    const std::string repository = "https://github.com/octo/demo";
    Identity who;
    who.issuer = "https://token.actions.githubusercontent.com";
    who.repository = repository;
    who.ref = "refs/heads/main";
    who.build_config = repository + "/.github/workflows/release.yml@refs/heads/main";
    who.trigger = "push";
    CHECK(is_publisher(who, repository));
    CHECK(is_publisher(who, "https://github.com/Octo/Demo"));
    CHECK_FALSE(is_publisher(who, "https://github.com/octo"));
    CHECK_FALSE(is_publisher(who, ""));
    for (const auto& [trigger, ref] :
         {std::pair("pull_request_target", "refs/heads/main"), std::pair("push", "refs/pull/1/merge")}) {
        Identity request = who;
        request.trigger = trigger;
        request.ref = ref;
        request.build_config = repository + "/.github/workflows/release.yml@" + ref;
        CHECK(publisher_address(request) == repository);
        CHECK_FALSE(is_publisher(request, repository));
    }
    // Others build any repository for anybody, and say of which one.
    who.issuer = "https://oidc.codefresh.io";
    CHECK(publisher_address(who).empty());
    CHECK_FALSE(is_publisher(who, repository));
    who.issuer = "https://accounts.google.com";
    who.subject = "a@example.org";
    CHECK(publisher_address(who) == "a@example.org");
}

TEST_CASE("real attestations of the staging instance are accepted with its root only") {
    const TrustedRoot staging = read_trusted_root(data_of("staging_root.json")).value();
    const std::vector<std::pair<std::string, std::string>> files{
        {"rfc8785-0.1.2-py3-none-any.whl",
         "c4e92e9ecc828bef2aa7dba1de8ac983511f7532a0df11c770d39099a25cf201"},
        {"spt3g-1.0-cp310-cp310-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
         "d2772f9a5199f05ed1be8d9aa78b879e51772e3ead9d73fe8057257b1aec7cf8"}};
    for (const auto& [file, sha256] : files) {
        CAPTURE(file);
        const Json json = io::parse_json(data_of(file + ".publish.attestation")).value();
        CHECK(code_of(json, file, sha256, staging) == "ok");
        CHECK(code_of(json, file, sha256, public_root()) == "attestation.unknown_log");
    }
}

TEST_CASE("an attestation is refused for what is wrong with it") {
    const Json data = io::parse_json(data_of("private.json")).value();
    const TrustedRoot root = read_trusted_root(data.find("root")->render()).value();
    std::size_t accepted = 0;
    for (const Json& row : data.items("cases")) {
        CAPTURE(row.string_or("name", {}));
        const std::string code = row.string_or("code", {});
        const auto attested = verify_attestation(*row.find("attestation"), data.string_or("file", {}),
                                                 data.string_or("sha256", {}), root);
        if (code != "ok") {
            REQUIRE_FALSE(attested);
            CHECK(attested.error().code == "attestation." + code);
            CHECK_FALSE(attested.error().advice.empty());
            continue;
        }
        ++accepted;
        REQUIRE_MESSAGE(attested, attested.error().text());
        CHECK(publisher_of(attested->identity).render() == row.find("publisher")->render());
        CHECK(attested->time == 1'795'700'000'000'000);
    }
    CHECK(accepted > 10);
    CHECK(data.items("cases").size() > 60);
}

// One bit of each byte of a sample; JSON's own white space is the only thing that may change without notice.
TEST_CASE("a flipped bit anywhere in a real attestation is noticed") {
    const Real& real = real_ones.front();
    const std::string text = data_of(real.file + real.suffix);
    for (std::size_t at = 0; at < text.size(); at += test_support::step_of_sample(11)) {
        std::string other = text;
        other[at] = static_cast<char>(other[at] ^ (1 << (at % 7)));
        const auto json = io::parse_json(other);
        if (!json) continue;
        CAPTURE(at);
        CAPTURE(text.substr(at, 20));
        CHECK(code_of(*json, real.file, real.sha256, public_root()) != "ok");
    }
}

TEST_CASE("the attestations of a file become its provenance, by publisher") {
    const Real& real = real_ones[2];
    const std::string publish = io::parse_json(data_of(real.file + ".publish.attestation"))->render();
    const std::string slsa = io::parse_json(data_of(real.file + ".slsa.attestation"))->render();
    const auto verified = [&](const std::string& field) {
        return verify_attestations(field, real.file, real.sha256, public_root());
    };
    const auto both = verified("[" + publish + "," + slsa + "]");
    REQUIRE_MESSAGE(both, both.error().text());
    CHECK(both->document == R"({"version":1,"attestation_bundles":[{"publisher":)" + real.publisher +
                                R"(,"attestations":[)" + publish + "," + slsa + "]}]}");
    CHECK(both->attested.size() == 2);
    CHECK(verified("[]")->document.empty());
    const std::vector<std::pair<std::string, std::string>> refused{
        {"[" + publish + "," + publish + "]", "attestation.twice"},
        {"[1,2,3]", "attestation.count"},
        {"[1]", "attestation.version"},
        {publish, "attestation.form"},
        {"[" + publish, "attestation.form"},
        {"[" + std::string(max_field_bytes, ' ') + "]", "attestation.too_large"}};
    for (const auto& [field, code] : refused) {
        CAPTURE(code);
        const auto answer = verified(field);
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code == code);
    }
}

TEST_CASE("the same attestations are the same document, in whatever order they come") {
    const Real& real = real_ones[2];
    const std::string publish = data_of(real.file + ".publish.attestation");
    const std::string slsa = data_of(real.file + ".slsa.attestation");
    const auto document = [&](const std::string& field) {
        return verify_attestations(field, real.file, real.sha256, public_root()).value().document;
    };
    CHECK(document("[" + publish + "," + slsa + "]") == document("[" + slsa + " , " + publish + "]"));
    CHECK(document("[" + publish + "]") != document("[" + slsa + "]"));
}

TEST_CASE("an entry in the form of Rekor v2, without a time and a promise, is refused by name") {
    const Real& real = real_ones.front();
    Json json = io::parse_json(data_of(real.file + real.suffix)).value();
    Json material = *json.find("verification_material");
    Json entry = material.items("transparency_entries").at(0);
    entry.set("kindVersion", Json::object({{"kind", "hashedrekord"}, {"version", "0.0.2"}}));
    entry.set("integratedTime", "0");
    entry.set("inclusionPromise", Json());
    material.set("transparency_entries", Json(Json::Array{entry}));
    json.set("verification_material", material);
    CHECK(code_of(json, real.file, real.sha256, public_root()) == "attestation.rekor_v2");
}

TEST_CASE("a provenance object of another index is believed as far as its attestations are signed") {
    const Real& real = real_ones[2];
    const std::string publish = io::parse_json(data_of(real.file + ".publish.attestation"))->render();
    const std::string slsa = io::parse_json(data_of(real.file + ".slsa.attestation"))->render();
    const auto verified = [&](const std::string& document, const std::string& sha256) {
        return verify_provenance(document, real.file, sha256, public_root());
    };
    const auto bundle = [](const std::string& publisher, const std::string& attestations) {
        return R"({"publisher":)" + publisher + R"(,"attestations":[)" + attestations + "]}";
    };
    const auto document = [](const std::string& bundles) {
        return R"({"version":1,"attestation_bundles":[)" + bundles + "]}";
    };
    // As the public index has it: with what no certificate says.
    const std::string as_registered =
        R"({"kind":"GitHub","repository":"trailofbits/pypi-attestations","workflow":"release.yml",)"
        R"("environment":"pypi","claims":null})";
    const std::string ours = document(bundle(real.publisher, publish + "," + slsa));
    for (const std::string& said :
         {as_registered, real.publisher, std::string(R"({"kind":"GitHub","repository":"someone/else"})")}) {
        CAPTURE(said);
        for (const std::string& one : {document(bundle(said, publish + "," + slsa)),
                                       document(bundle(said, slsa) + ", " + bundle(said, publish))}) {
            const auto answer = verified(one, real.sha256);
            REQUIRE_MESSAGE(answer, answer.error().text());
            CHECK(answer->document == ours);
        }
    }
    CHECK(verified(ours, std::string(64, 'a')).error().code == "attestation.other_file");
    const std::string deep = std::string(40, '[') + std::string(40, ']');
    const std::vector<std::pair<std::string, std::string>> refused{
        {document(bundle(R"({"kind":"GitLab","repository":"trailofbits/pypi-attestations"})", publish)),
         "attestation.publisher"},
        {document(bundle(R"({"kind":"Jenkins"})", publish)), "attestation.publisher"},
        {document(bundle("null", publish)), "attestation.publisher"},
        {document(R"({"attestations":[)" + publish + "]}"), "attestation.publisher"},
        {document(bundle(real.publisher, publish) + "," + bundle(real.publisher, publish)),
         "attestation.twice"},
        {document(bundle(real.publisher, publish + "," + slsa + "," + slsa)), "attestation.count"},
        {document(bundle(real.publisher, "{}")), "attestation.version"},
        {document(bundle(real.publisher, "")), "attestation.form"},
        {document(""), "attestation.form"},
        {"[" + publish + "]", "attestation.version"},
        {R"({"version":2,"attestation_bundles":[)" + bundle(real.publisher, publish) + "]}",
         "attestation.version"},
        {document(bundle(real.publisher, publish) + R"(],"attestation_bundles":[)"), "attestation.form"},
        {document(deep), "attestation.form"},
        {std::string(max_document_bytes + 1, ' '), "attestation.form"},
        {"", "attestation.form"}};
    for (const auto& [text, code] : refused) {
        CAPTURE(text);
        const auto answer = verified(text, real.sha256);
        REQUIRE_FALSE(answer);
        CHECK(answer.error().code == code);
    }
}

}  // namespace wheelyard::sigstore
