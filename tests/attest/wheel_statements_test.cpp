// What is signed about a wheel. in-toto-attestation 0.9.3 accepts both statements of the golden files, and the predicate of
// the first as SLSA provenance.
#include "lib/attest/wheel_statements.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/attest/limits.hpp"
#include "tests/attest/samples.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::attest {

TEST_CASE("the two statements about a wheel say who said what, and what was proved") {
    const wire::WheelProvenance said = sample_said();
    const std::string provenance = render_statement(provenance_statement(said, sample_received()));
    const std::string summary = render_statement(summary_statement(
        said, wire::render_wheel_provenance(said), provenance, sample_proved(), sample_received()));
    CHECK(test_support::golden_difference("attest/provenance.json", provenance + "\n") == "");
    CHECK(test_support::golden_difference("attest/summary.json", summary + "\n") == "");
    CHECK(parse_statement(provenance)->predicate_type == provenance_predicate);
    CHECK(parse_statement(summary)->predicate_type == summary_predicate);
}

TEST_CASE(
    "a Git source has its commit, a folder is a file URL, and nothing is invented for what is unknown") {
    wire::WheelProvenance said = sample_said();
    const auto first = [&] {
        const Statement statement = provenance_statement(said, sample_received());
        const io::Json* definition = statement.predicate.find("buildDefinition");
        const auto& items = definition->items("resolvedDependencies");
        return items.empty() ? std::string() : items.front().render();
    };
    const std::string commit(40, 'e');
    said.build.requirements.clear();
    said.source = {"git", "https://example.org/a.git@v1 (" + commit + ")", "a-0123.tar", ""};
    CHECK(first() == R"({"uri":"git+https://example.org/a.git@v1","digest":{"gitCommit":")" + commit +
                         R"("},"name":"a-0123.tar"})");
    said.source = {"path", "/home/a b", "", ""};
    CHECK(first() == R"({"uri":"file:///home/a%20b"})");
    said.source = {"upstream", "", "a-1.0-py3-none-any.whl", "not a digest"};
    CHECK(first() == R"({"name":"a-1.0-py3-none-any.whl"})");
    said.source = {};
    CHECK(first().empty());
    said.began = 0;
    said.program.clear();
    const std::string text = render_statement(provenance_statement(said, sample_received()));
    CHECK(text.find("startedOn") == std::string::npos);
    CHECK(text.find(R"("builder":{"id":"urn:wheelyard:site:debian%2012"})") != std::string::npos);
}

TEST_CASE("the level is what the configuration says, and a wheel in quarantine is said to be there") {
    const wire::WheelProvenance said = sample_said();
    Received received = sample_received();
    Proved proved = sample_proved();
    const auto says = [&](std::string_view words) {
        return render_statement(summary_statement(said, "{}\n", "", proved, received)).find(words) !=
               std::string::npos;
    };
    CHECK(says(R"("level":"SLSA_BUILD_LEVEL_1","outcome":"accepted")"));
    received.level = Level::two;
    CHECK(says(R"("level":"SLSA_BUILD_LEVEL_2","outcome":"accepted")"));
    proved.outcome = "quarantined";
    CHECK(says(R"("outcome":"quarantined")"));
}

TEST_CASE("a stored provenance falls into the agent's document and the statements, and comes back the same") {
    const SigningKey key = SigningKey::generate();
    const std::string document = wire::render_wheel_provenance(sample_said());
    const std::string text = sample_signed(key);
    const auto parts = split_statements(text);
    REQUIRE(parts);
    CHECK(parts->document == document);
    CHECK(parts->statements.size() == 2);
    CHECK(join_statements(*parts) == text);
    CHECK(split_statements(document)->statements.empty());
    CHECK(split_statements(document)->document == document);
    // It is still what earlier readers of provenances expect.
    CHECK(wire::render_wheel_provenance(*wire::parse_wheel_provenance(text)) == document);
    // An agent cannot make a text look like the member.
    wire::WheelProvenance sly = sample_said();
    sly.log = R"(x","statements":[{"payload":""}]})";
    const std::string sly_document = wire::render_wheel_provenance(sly);
    CHECK(split_statements(sly_document)->statements.empty());
    CHECK(split_statements(sample_signed(key, sly))->document == sly_document);
    for (const std::string& other :
         {std::string(), std::string("{}"), text.substr(0, text.size() - 1),
          std::string("{\"a\":1,\"statements\":[]}\n"), std::string("{\"a\":1,\"statements\":[1 ]}\n"),
          std::string("{\"a\":1,\"statements\":[1],\"b\":2}\n")}) {
        CAPTURE(other);
        CHECK_FALSE(split_statements(other));
    }
}

TEST_CASE("the largest document of an agent has room for its statements") {
    wire::WheelProvenance said = sample_said();
    for (int i = 0; i < 600; ++i)
        said.build.requirements.emplace_back("p" + std::to_string(i) + "-1-py3-none-any.whl",
                                             "sha256:" + std::string(64, 'd'));
    const std::string document = wire::render_wheel_provenance(said);
    CHECK(document.size() > wire::max_provenance_bytes * 9 / 10);
    REQUIRE_FALSE(wire::parse_wheel_provenance(document)->is_cut);
    CHECK(split_statements(sample_signed(SigningKey::generate(), said))->statements.size() == 2);
}

TEST_CASE("facts that have no room are left out, and a document that has none is not signed") {
    const SigningKey key = SigningKey::generate();
    wire::WheelProvenance said = sample_said();
    Proved proved = sample_proved();
    io::Json tags = io::Json::array();
    for (std::size_t i = 0; i < max_signed_bytes / 32; ++i)
        tags.push("cp311-cp311-linux_x86_64_number_" + std::to_string(i));
    proved.facts.set("tags", std::move(tags));
    const auto sign = [&] {
        return sign_wheel(wire::render_wheel_provenance(said), said, proved, sample_received(), key);
    };
    const auto text = sign();
    REQUIRE(text);
    const auto wheel = verify_wheel(said.wheel.filename, said.wheel.sha256, *text,
                                    {key.public_key(), {}, sample_time, {"main"}});
    REQUIRE(wheel);
    CHECK(wheel->summary.predicate.find("facts")->render() == R"({"cut":true})");
    // Each of these bytes is three in a URI, and four thirds of that in an envelope.
    said.source.origin = std::string(60'000, '<');
    const auto refused = sign();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == "attest.too_large");
}

TEST_CASE("a statement of the time before JSON escaped what turns text around has its one form still") {
    const std::string text =
        R"({"_type":"https://in-toto.io/Statement/v1","subject":[{"name":"a-1-py3-none-any.whl","digest":{"sha256":")" +
        std::string(64, 'a') +
        R"("}}],"predicateType":"x","predicate":{"reason":")"
        "\u202e\u009b"
        R"("}})";
    const auto statement = parse_statement(text);
    REQUIRE(statement);
    CHECK(render_statement(*statement) == text);
}

}  // namespace wheelyard::attest
