// Variants of built wheels, from the agent's side: what reaches which index, also after a kill.
#include "builder/steps/variant_of_wheel.hpp"

#include <doctest/doctest.h>

#include <array>

#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

struct VariantFarm : testing::Farm {
    testing::FolderRegistry gpu_nodes{folder.path() / "gpu-nodes", "gpu-nodes"};
    explicit VariantFarm(const std::string& version = "1.0+gh200") {
        offer_wheel(testing::demo_wheel(version));
    }
    AgentParts variant_parts(const std::string& failpoint = {}) {
        AgentParts made = parts(failpoint);
        made.variants = &gpu_nodes;
        return made;
    }
    Attempt settled() {
        for (int count = 0; count < 40; ++count) {
            Agent agent(variant_parts());
            auto report = agent.tick();
            REQUIRE_MESSAGE(report.has_value(), report.error().text());
            clock.sleep_ms(max_wait_ms * 2);
            if (report->active.empty() && report->plan.count(CellState::wanted) == 0) break;
        }
        REQUIRE(attempts().size() == 1);
        return attempts().front();
    }
};
constexpr const char* plain = "demo-1.0+gh200-py3-none-any.whl";
constexpr const char* variant = "demo-1.0-py3-none-any-null.whl";

}  // namespace

TEST_CASE("the index of variants gets the wheel without its local version, with a label") {
    VariantFarm farm;
    const Attempt attempt = farm.settled();
    CHECK(attempt.state == State::done);
    CHECK(attempt.wheel.filename == plain);
    CHECK(attempt.variant.filename == variant);
    CHECK(attempt.variant.index == "gpu-nodes");
    CHECK(farm.registry.has(plain));
    CHECK(!farm.registry.has(variant));
    CHECK(farm.gpu_nodes.has(variant));
    // The provenance is of the file that is uploaded.
    CHECK(farm.gpu_nodes.provenance.find(attempt.variant.sha256) != std::string::npos);
    CHECK(!std::filesystem::exists(farm.site.work_directory / "attempts" / attempt.id / "variant"));
}

TEST_CASE("a killed agent uploads one wheel and one variant of it") {
    for (const std::string_view point : {"upload.sent", "upload.seen", "variant.made", "outcome.written"}) {
        CAPTURE(point);
        VariantFarm farm;
        int status = 0;
        for (int count = 0; count < 10 && status == 0; ++count)
            status = testing::tick_in_child(farm, farm.variant_parts(std::string(point)));
        CHECK(status == 137);
        const Attempt attempt = farm.settled();
        CHECK(attempt.state == State::done);
        CHECK(farm.builds() == 1);
        CHECK(attempt.wheel.sends == 1);
        CHECK(attempt.variant.sends == 1);
        CHECK(farm.gpu_nodes.has(variant));
    }
}

TEST_CASE("what makes a variant impossible is noted, and the wheel stays published") {
    SUBCASE("its index refuses it") {
        VariantFarm farm;
        farm.gpu_nodes.refusal = "takes no variant wheels";
        const Attempt attempt = farm.settled();
        CHECK(attempt.state == State::done);
        CHECK(attempt.variant.filename.empty());
        CHECK(attempt.variant.not_made.find("takes no variant wheels") != std::string::npos);
        CHECK(farm.registry.has(plain));
    }
    SUBCASE("it is for GPUs, and nothing says for which") {
        VariantFarm farm;
        Accelerator gh200;
        gh200.name = "gh200";
        gh200.kind = "cuda";
        gh200.architectures = {"sm_90"};
        gh200.label = "gh200";
        farm.site.accelerators = {gh200};
        farm.recipes = {};
        Recipe recipe = default_recipe("demo");
        recipe.source = SourceKind::path;
        recipe.path = farm.folder.path() / "project";
        recipe.file = farm.folder.path() / "demo.toml";
        recipe.labelled = true;
        recipe.accelerators = {"cuda"};
        farm.recipes.add(recipe);
        const Attempt attempt = farm.settled();
        CHECK(attempt.asked.accelerator == "gh200");
        CHECK(attempt.state == State::done);
        CHECK(attempt.variant.not_made.find("do not say for which") != std::string::npos);
        CHECK(!farm.gpu_nodes.has(variant));
    }
}

TEST_CASE("an index that does not answer is waited for, and a wheel without a local version has no variant") {
    VariantFarm farm;
    farm.gpu_nodes.busy = true;
    for (int count = 0; count < 8; ++count)
        testing::tick_in_child(farm, farm.variant_parts());
    REQUIRE(farm.attempts().size() == 1);
    CHECK(farm.attempts().front().state == State::uploading);
    CHECK(farm.registry.has(plain));
    farm.gpu_nodes.busy = false;
    CHECK(farm.settled().variant.index == "gpu-nodes");

    VariantFarm other("1.0");
    CHECK(other.settled().state == State::done);
    CHECK(other.gpu_nodes.uploads == 0);
    CHECK(other.attempts().front().variant.not_made.empty());
}

}  // namespace wheelyard::builder
