// Variants of built wheels, from the agent's side: what reaches which index, also after a kill.
#include "builder/steps/built_wheel.hpp"

#include <doctest/doctest.h>

#include "builder/script/script.hpp"
#include "builder/site/version_pairs.hpp"
#include "tests/builder/fake_farm.hpp"
#include "tests/support/elf_writer.hpp"

namespace wheelyard::builder {
namespace {

// For A100, with code for it: the declaration is kept.
struct VariantFarm : testing::Farm {
    testing::FolderRegistry gpu_nodes{folder.path() / "gpu-nodes", "gpu-nodes"};
    VariantFarm() {
        Accelerator a100;
        a100.name = "a100";
        a100.kind = "cuda";
        a100.architectures = {"sm_80"};
        a100.label = "cu126.a100";
        a100.variant = {"a100", {{"nvidia", "cuda_version_lower_bound", "12.6"}}};
        site.accelerators = {a100};
        Recipe recipe = default_recipe("demo");
        recipe.source = SourceKind::path;
        recipe.path = folder.path() / "project";
        recipe.file = folder.path() / "demo.toml";
        recipe.labelled = true;
        recipe.accelerators = {"cuda"};
        recipes = {};
        recipes.add(recipe);
        offer({"libc.so.6", "libcudart.so.12"}, {{".nv_fatbin", test_support::write_fatbin({{.arch = 80}})}});
    }
    void offer(std::vector<std::string> needed, std::vector<std::pair<std::string, std::string>> sections) {
        test_support::ElfImage image;
        image.needed = std::move(needed);
        image.sections = std::move(sections);
        test_support::WheelWriter wheel("demo", "1.0+cu126.a100");
        offer_wheel(wheel.add("demo.py", "answer = 42\n")
                        .add("_demo.abi3.so", test_support::write_elf(image))
                        .tag("cp311-abi3-linux_x86_64"));
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
constexpr const char* plain = "demo-1.0+cu126.a100-cp311-abi3-linux_x86_64.whl";
constexpr const char* variant = "demo-1.0-cp311-abi3-linux_x86_64-a100.whl";

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

TEST_CASE(
    "a GPU that the toolkit lacks is in neither the job's variables, its tree's key nor the wheel's check") {
    VariantFarm farm;
    const auto pairs = parse_version_pairs(R"(
        config_version = 1
        pair = [{ package = "cuda", versions = "==13.*", with = "gpu", allowed = "sm_75+", use = "machine", source = "s" }]
        [sources]
        s = "its compiler"
        )",
                                           "versions.toml");
    REQUIRE_MESSAGE(pairs.has_value(), pairs.error().text());
    farm.site.version_pairs = *pairs;
    farm.site.provided_versions["cuda"] = "13.0";
    farm.site.accelerators[0].architectures = {"sm_70", "sm_80"};
    Recipe recipe = farm.recipes.of("demo");
    recipe.build_environment = {{"TORCH_CUDA_ARCH_LIST", "{cuda_architectures}"}};
    farm.recipes = {};
    farm.recipes.add(recipe);
    const Attempt attempt = farm.settled();
    CHECK_MESSAGE(attempt.state == State::done, (attempt.failure ? attempt.failure->error.text() : ""));
    const AttemptFolder folder{farm.site.work_directory / "attempts" / attempt.id};
    CHECK(testing::read(folder.script()).find("export TORCH_CUDA_ARCH_LIST=8.0\n") != std::string::npos);
    Site narrow = farm.site;
    narrow.accelerators[0].architectures = {"sm_80"};
    const std::string python = farm.site.pythons[0].executable;
    CHECK(is_built_by(folder, build_key(narrow, recipe, python, {})));
    CHECK_FALSE(is_built_by(folder, build_key(farm.site, recipe, python, {})));
}

TEST_CASE("a killed agent uploads one wheel and one variant of it") {
    for (const std::string_view point :
         {"upload.sent", "upload.seen", "variant.made", "variant.sent", "variant.seen", "outcome.written"}) {
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
    SUBCASE("it needs another CUDA than its declared driver supports") {
        VariantFarm farm;
        farm.offer({"libc.so.6", "libcudart.so.13"},
                   {{".nv_fatbin", test_support::write_fatbin({{.arch = 80}})}});
        CHECK(farm.settled().variant.not_made.find("another toolkit") != std::string::npos);
        CHECK(farm.attempts().front().state == State::done);
        CHECK(farm.registry.has(plain));
        CHECK(farm.gpu_nodes.uploads == 0);
    }
    SUBCASE("a part of its GPU code cannot be read") {
        VariantFarm farm;
        const std::string whole = test_support::write_fatbin({{.arch = 80}});
        farm.offer({"libc.so.6", "libcudart.so.12"},
                   {{".nv_fatbin", whole + whole.substr(0, whole.size() / 2)}});
        CHECK(farm.settled().variant.not_made.find("Not all of its GPU code was read") != std::string::npos);
        CHECK(farm.gpu_nodes.uploads == 0);
    }
    SUBCASE("the options of its build are for the machine that built it") {
        VariantFarm farm;
        farm.site.environment = {{"CFLAGS", "-O3 -march=native"}};
        CHECK(farm.settled().variant.not_made.find("-march=native") != std::string::npos);
        CHECK(farm.gpu_nodes.uploads == 0);
    }
    SUBCASE("its index never answers") {
        VariantFarm farm;
        farm.gpu_nodes.busy = true;
        for (int count = 0; count < 8; ++count)
            testing::tick_in_child(farm, farm.variant_parts());
        REQUIRE(farm.attempts().size() == 1);
        CHECK(farm.attempts().front().state == State::uploading);
        farm.clock.sleep_ms(std::int64_t{24} * 60 * 60'000);
        CHECK(farm.settled().variant.not_made.find("busy") != std::string::npos);
        CHECK(farm.attempts().front().state == State::done);
    }
}

TEST_CASE("an index that does not answer for a while is waited for") {
    VariantFarm farm;
    farm.gpu_nodes.busy = true;
    for (int count = 0; count < 8; ++count)
        testing::tick_in_child(farm, farm.variant_parts());
    CHECK(farm.registry.has(plain));
    farm.gpu_nodes.busy = false;
    CHECK(farm.settled().variant.index == "gpu-nodes");
}

TEST_CASE(
    "a wheel that is the same for all accelerators, and one of an accelerator without variants, has none") {
    VariantFarm pure, undeclared;
    pure.offer_wheel(testing::demo_wheel("1.0+cu126.a100"));
    undeclared.site.accelerators.front().variant = {};
    for (VariantFarm* farm : {&pure, &undeclared}) {
        CHECK(farm->settled().state == State::done);
        CHECK(farm->gpu_nodes.uploads == 0);
        CHECK(farm->attempts().front().variant.not_made.empty());
    }
}

}  // namespace wheelyard::builder
