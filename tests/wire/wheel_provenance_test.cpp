// The document about what made a wheel: its round trip, its bounds, and what is refused.
#include "lib/wire/wheel_provenance.hpp"

#include <doctest/doctest.h>

#include <string>

#include "lib/base/text/text.hpp"
#include "tests/support/golden.hpp"

namespace wheelyard::wire {
namespace {

WheelProvenance full() {
    WheelProvenance made;
    made.wheel = {"demo-1.0-cp311-cp311-linux_x86_64.whl", std::string(64, 'a'), 23'000};
    made.site = "debian12";
    made.program = "wheelyard-builder 0.1.0";
    made.attempt = "w1kq7x9aab3cde";
    made.cell = "demo-1.0-cp311";
    made.package = "demo";
    made.version = "1.0";
    made.python = "3.11";
    made.accelerator = "cuda-12";
    made.number = 2;
    made.began = 1'790'000'000'000'000;
    made.source = {"sdist", "https://example.org/demo-1.0.tar.gz", "demo-1.0.tar.gz", std::string(64, 'b')};
    made.build = {std::string(64, 'c'),
                  {},
                  "Linux 6.1 x86_64",
                  {"gcc/12.2"},
                  {{"c++", "c++ (GCC) 12.2.0"}},
                  {{"CC", "gcc"}},
                  {{"a-1.0-py3-none-any.whl", "sha256:ab"}}};
    made.log = "wheelyard-builder logs w1kq7x9aab3cde";
    return made;
}

// With what earlier versions did not say.
WheelProvenance with_recipe() {
    WheelProvenance made = full();
    made.recipe = "demo.toml";
    made.recipe_sha256 = std::string(64, 'd');
    made.node_type = "gh";
    made.notice = "without an extension";
    made.governed = GovernedBuild{.compiles = 140,
                                  .killed = 1,
                                  .wall_seconds = 61.5,
                                  .high_water_bytes = 6'100'000'000,
                                  .limit_bytes = 8'000'000'000,
                                  .limit = "cgroup /slurm/uid_1000/job_7",
                                  .worst = {{"/home/ada/demo/a.cu", 3'000'000'000, 61.5}},
                                  .messages = {"/home/ada is full"}};
    return made;
}

}  // namespace

TEST_CASE(
    "a wheel's provenance has the recipe, the node type and what the governor measured, without paths") {
    const std::string text = render_wheel_provenance(with_recipe());
    for (const char* path : {"ada", "uid_1000", "worst", "messages"})
        CHECK_MESSAGE(text.find(path) == std::string::npos, path);
    const auto read = parse_wheel_provenance(text);
    REQUIRE(read.has_value());
    CHECK(render_wheel_provenance(*read) == text);
    CHECK(read->recipe == "demo.toml");
    CHECK(read->recipe_sha256 == std::string(64, 'd'));
    CHECK(read->node_type == "gh");
    CHECK(read->notice == "without an extension");
    REQUIRE(read->governed.has_value());
    CHECK(describe(*read->governed) == "140 compiles, at most 5.7 GiB of 7.5 GiB (cgroup), 1 run again");
    // What another agent sends beside the counts is not kept.
    const std::string more = base::replace_all(
        text, R"("governor":{)", R"("governor":{"worst":[{"source":"/home/ada"}],"messages":["/home/ada"],)");
    CHECK(render_wheel_provenance(parse_wheel_provenance(more).value()) == text);
}

TEST_CASE("a wheel's provenance comes back from its document as it was") {
    const WheelProvenance made = full();
    const std::string text = render_wheel_provenance(made);
    const auto read = parse_wheel_provenance(text);
    REQUIRE(read.has_value());
    CHECK(render_wheel_provenance(*read) == text);
    CHECK(read->wheel.filename == made.wheel.filename);
    CHECK(read->wheel.size == made.wheel.size);
    CHECK(read->number == 2);
    CHECK(read->began == made.began);
    CHECK(read->source.origin == made.source.origin);
    CHECK(read->build.modules == made.build.modules);
    CHECK(read->build.tools == made.build.tools);
    CHECK(read->build.environment == made.build.environment);
    CHECK(read->build.requirements == made.build.requirements);
    CHECK(read->log == made.log);
    CHECK_FALSE(read->is_cut);
}

TEST_CASE("the bytes of a provenance stay as they were published") {
    WheelProvenance cut = full();
    cut.is_cut = true;
    const std::string text = render_wheel_provenance(full()) + render_wheel_provenance(cut) +
                             render_wheel_provenance(WheelProvenance{}) +
                             render_wheel_provenance(with_recipe());
    CHECK(test_support::golden_difference("wire/provenance.json", text) == "");
}

TEST_CASE("members that this version does not know are left out") {
    std::string text = render_wheel_provenance(full());
    text.insert(1, R"("password":"hunter2",)");
    const auto read = parse_wheel_provenance(text);
    REQUIRE(read.has_value());
    CHECK(render_wheel_provenance(*read).find("hunter2") == std::string::npos);
}

TEST_CASE("a document that would be too large loses its lists and says so") {
    WheelProvenance made = full();
    made.build.requirements.emplace_back("x", std::string(max_provenance_bytes, 'x'));
    const auto without_requirements = parse_wheel_provenance(render_wheel_provenance(made));
    REQUIRE(without_requirements.has_value());
    CHECK(without_requirements->is_cut);
    CHECK(without_requirements->build.requirements.empty());
    CHECK(without_requirements->build.tools == made.build.tools);
    made.build.tools.emplace_back("x", std::string(max_provenance_bytes, 'x'));
    const auto bare = parse_wheel_provenance(render_wheel_provenance(made));
    REQUIRE(bare.has_value());
    CHECK(bare->is_cut);
    CHECK(bare->build.tools.empty());
    CHECK(bare->source.sha256 == made.source.sha256);
}

TEST_CASE("another format, a missing wheel and too many bytes are refused") {
    struct Row {
        std::string text;
        const char* code;
    };
    const std::string good = render_wheel_provenance(full());
    for (const Row& row :
         {Row{R"({"format":"wheelyard.provenance/2"})", "provenance.format"}, Row{"[]", "provenance.format"},
          Row{R"({"format":"wheelyard.provenance/1"})", "provenance.wheel"},
          Row{R"({"format":"wheelyard.provenance/1","wheel":{"filename":"a.whl","sha256":"ab"}})",
              "provenance.wheel"},
          Row{good + std::string(max_provenance_bytes, ' '), "provenance.too_large"}}) {
        CAPTURE(row.text.substr(0, 80));
        const auto read = parse_wheel_provenance(row.text);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().code == row.code);
    }
    CHECK_FALSE(parse_wheel_provenance("{").has_value());
}

TEST_CASE("the page of the provenance lists exactly its members") {
    CHECK(test_support::part_difference("reference/provenance.md", "provenance",
                                        document_wheel_provenance()) == "");
}

}  // namespace wheelyard::wire
