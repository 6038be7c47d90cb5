#include "lib/wire/outcome.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/text.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::wire {
namespace {

Outcome full() {
    Outcome outcome;
    outcome.attempt = "w1";
    outcome.cell = "demo-1.0-cp311";
    outcome.site = "debian12";
    outcome.package = "demo";
    outcome.version = "1.0";
    outcome.python = "3.11";
    outcome.number = 2;
    outcome.began = 1'790'000'000'000'000;
    outcome.ended = 1'790'000'060'000'000;
    outcome.phases = {{"build", 4.25}, {"smoke", 3.0}};
    outcome.exit_code = 1;
    outcome.diagnosis = Diagnosis{"build", {"job.failed", "s", "v", "a"}, "x.c: error: no"};
    outcome.source.kind = "sdist";
    outcome.source.sha256 = std::string(64, 'a');
    outcome.request.memory_mib = 6000;
    outcome.request.max_walltime_minutes = 90;
    outcome.request.cores = 8;
    outcome.request.remedy = "8 jobs at once: memory.nvcc_crashed ended attempt w1";
    outcome.provenance = {std::string(64, 'b'),
                          "nid001",
                          "Linux 6.1 x86_64",
                          {"gcc/12.2", "cuda/12.3.2"},
                          {{"c++", "c++ (GCC) 12.2.0"}},
                          {{"CC", "gcc"}, {"API_TOKEN", "(hidden)"}},
                          {{"ninja-1.11.1-py3-none-any.whl", "sha256:" + std::string(64, 'c')}}};
    outcome.governed = GovernedBuild{};
    outcome.governed->killed = 3;
    outcome.wheel.filename = "demo.whl";
    outcome.wheel.size = 5'000'000'000;
    outcome.verdicts = {"a.b: c"};
    return outcome;
}

TEST_CASE("an outcome survives a JSON round trip") {
    const auto read = parse_outcome(render_outcome(full()));
    REQUIRE_MESSAGE(read.has_value(), read.error().text());
    CHECK(render_outcome(*read) == render_outcome(full()));
    CHECK(read->wheel.size == 5'000'000'000);
    CHECK(read->request.memory_mib == 6000);
    CHECK(read->request.max_walltime_minutes == 90);
    CHECK(read->request.cores == 8);
    CHECK(read->request.remedy.starts_with("8 jobs"));
    CHECK(read->provenance.script_sha256 == std::string(64, 'b'));
    CHECK(read->provenance.host == "nid001");
    CHECK(read->provenance.system == "Linux 6.1 x86_64");
    CHECK(read->provenance.modules == std::vector<std::string>{"gcc/12.2", "cuda/12.3.2"});
    CHECK(read->provenance.tools == NamedTexts{{"c++", "c++ (GCC) 12.2.0"}});
    CHECK(read->provenance.environment.size() == 2);
    CHECK(read->provenance.requirements == full().provenance.requirements);
    CHECK(read->provenance.requirements.size() == 1);
    CHECK(read->governed->killed == 3);
    CHECK(read->phases[0].seconds == 4.25);
    CHECK(read->diagnosis->first_error == "x.c: error: no");
}

TEST_CASE("the bytes of an outcome stay as they were written") {
    Outcome outcome = full();
    outcome.governed->worst = {{"a.cu", 5, 1.5}};
    outcome.governed->messages = {"a.cu: needs 9 GiB"};
    const std::string text = render_outcome(outcome) + render_outcome(Outcome{});
    CHECK(test_support::golden_difference("wire/outcome.json", text) == "");
}

TEST_CASE("an outcome without diagnosis and exit code keeps them absent") {
    Outcome outcome = full();
    outcome.done = true;
    outcome.diagnosis.reset();
    outcome.exit_code.reset();
    const auto read = parse_outcome(render_outcome(outcome));
    REQUIRE(read.has_value());
    CHECK(read->done);
    CHECK(!read->diagnosis.has_value());
    CHECK(!read->exit_code.has_value());
}

TEST_CASE("the outcome of a task that has no cell at the site is accepted") {
    Outcome outcome = full();
    outcome.cell.clear();
    CHECK(parse_outcome(render_outcome(outcome)).has_value());
}

TEST_CASE("another format, version or result is rejected; unknown members are accepted") {
    const std::string good = render_outcome(full());
    CHECK(!parse_outcome("").has_value());
    CHECK(parse_outcome(base::replace_all(good, "outcome/1", "outcome/2")).error().code == "outcome.format");
    CHECK(parse_outcome(base::replace_all(good, "\"failed\"", "\"maybe\"")).error().code == "outcome.result");
    CHECK(!parse_outcome(base::replace_all(good, "\"attempt\"", "\"at\"")).has_value());
    CHECK(parse_outcome(base::replace_all(good, "\"cell\"", "\"later\": 1, \"cell\"")).has_value());
}

TEST_CASE("the page of the journal lists exactly the members of an outcome") {
    CHECK(test_support::part_difference("reference/journal.md", "outcome", document_outcome()) == "");
}

}  // namespace
}  // namespace wheelyard::wire
