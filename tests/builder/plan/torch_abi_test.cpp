// Whether a companion's wheel stays, as a table: its facts, and the torch that the site wants.
#include "builder/plan/torch_abi.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

Cell cell_with(const std::string& package, const std::string& version, const std::string& filename,
               const std::string& against = "") {
    Cell cell;
    cell.package = package;
    cell.version = version;
    cell.python = "3.11";
    cell.name = package + "-" + version + "-cp311";
    cell.against = against;
    if (!filename.empty()) cell.wheel.emplace().filename = filename;
    return cell;
}

// torch 2.7.0 with the new std::string, and a companion that is built against it.
Plan plan_with(std::vector<std::string> also_for = {}) {
    Plan plan;
    plan.cells = {cell_with("torch", "2.7.0+cu126", "torch.whl"), cell_with("torch", "2.9.0+cu126", ""),
                  cell_with("vision", "1", "vision.whl", "torch==2.7.0+cu126")};
    plan.cells[2].also_for = std::move(also_for);
    return plan;
}

// Of the companion; empty: none.
std::string verdict_in(const Plan& plan) {
    return plan.cells[2].torch_abi ? verdict_text(*plan.cells[2].torch_abi) : "";
}

TEST_CASE("a companion stays unless its requirements, names or strings are those of another torch") {
    struct Row {
        TorchUse use;
        const char* verdict;
    };
    const Row rows[] = {
        {{{}, "true", "", "2.6", ""}, "kept: uses only torch's stable ABI since 2.6"},
        {{{"torch>=2.6"}, "true", "", "", ""}, "kept: uses only torch's stable ABI"},
        {{{"torch==2.7.0"}, "false", "true", "2.6", "2.9"},
         "unproven: nothing that is known of it speaks against this torch, and it uses more than torch's "
         "stable "
         "ABI"},
        {{{"torch (==2.6.0)"}, "false", "true", "", ""},
         "rebuild: requires torch (==2.6.0), and torch 2.7.0+cu126 is wanted"},
        {{{"torch==1.4; extra == 'dev'"}, "true", "", "", ""}, "kept: uses only torch's stable ABI"},
        {{{}, "true", "", "2.9", ""},
         "rebuild: uses names that torch has since 2.9, and torch 2.7.0+cu126 is wanted"},
        {{{}, "false", "", "", "2.7"},
         "rebuild: uses names that torch has no more since 2.7, and torch 2.7.0+cu126 is wanted"},
        {{{}, "false", "false", "", ""},
         "rebuild: is built with _GLIBCXX_USE_CXX11_ABI=0, and torch 2.7.0+cu126 is not"},
        {{{}, "", "", "", ""}, ""},
    };
    for (const auto& [use, verdict] : rows) {
        CAPTURE(verdict);
        Plan plan = plan_with();
        judge_torch_abi(plan, {{"vision.whl", use}, {"torch.whl", {{}, "false", "true", "", ""}}});
        CHECK(verdict_in(plan) == verdict);
        CHECK_FALSE(plan.cells[0].torch_abi);
    }
}

TEST_CASE("a companion for two torches is held to both") {
    Plan plan = plan_with({"torch-2.9.0+cu126-cp311"});
    judge_torch_abi(plan, {{"vision.whl", {{}, "false", "true", "2.6", "2.9"}}});
    CHECK(verdict_in(plan) ==
          "rebuild: uses names that torch has no more since 2.9, and torch 2.9.0+cu126 is wanted");
    judge_torch_abi(plan, {{"vision.whl", {{}, "true", "", "2.6", ""}}});
    CHECK(verdict_in(plan) == "kept: uses only torch's stable ABI since 2.6");
}

TEST_CASE("what the registry says of the names of both decides, before the bounds of the facts") {
    const TorchUse use{{}, "false", "true", "2.6", "2.9"};
    const TorchPair pair{"vision.whl", "torch.whl"};
    Plan plan = plan_with();
    CHECK(torch_pairs(plan) == std::vector<TorchPair>{pair});
    const auto verdict = [&](const TorchAnswer& answer, const TorchUse& of_vision) {
        judge_torch_abi(plan, {{"vision.whl", of_vision}}, {{pair, answer}});
        return verdict_in(plan);
    };
    CHECK(verdict({"no", "symbols_missing", "torch 2.7.0 lacks `at::_ops::zeros::call`, one name", 165},
                  use) == "rebuild: torch 2.7.0 lacks `at::_ops::zeros::call`, one name");
    CHECK(verdict({"yes", "has_all_symbols", "", 165}, use) ==
          "kept: this torch has all 165 names of torch that it uses");
    CHECK(verdict({"yes", "uses_stable_abi", "", 3}, {{}, "true", "", "2.9", ""}) ==
          "kept: uses only torch's stable ABI since 2.9");
    CHECK(verdict({"unknown", "not_read", "", 0}, {{}, "false", "", "2.9", ""}) ==
          "rebuild: uses names that torch has since 2.9, and torch 2.7.0+cu126 is wanted");
    // Requirements are not names.
    CHECK(verdict({"yes", "has_all_symbols", "", 165}, {{"torch==2.6.0"}, "false", "", "", ""}) ==
          "rebuild: requires torch==2.6.0, and torch 2.7.0+cu126 is wanted");
    // Of the other torch, which the index has not, only bounds are known.
    plan = plan_with({"torch-2.9.0+cu126-cp311"});
    CHECK(verdict({"yes", "has_all_symbols", "", 165}, {{}, "false", "", "2.6", ""})
              .starts_with("unproven: nothing that is known of it"));
}

// As xformers 0.0.34 and torch 2.12.1, which do not load together: bench/abi_matrix/results.tsv.
TEST_CASE(
    "a companion for another CUDA runtime or MPI is rebuilt, whatever its names, if torch's wheel says its "
    "own") {
    Plan plan = plan_with();
    const TorchUse companion{{}, "true", "", "2.6", "", {"libcudart.so.12", "libmpi.so.12"}};
    const auto verdict = [&](const std::set<std::string>& of_torch) {
        judge_torch_abi(plan, {{"vision.whl", companion}, {"torch.whl", {{}, "", "", "", "", of_torch}}});
        return verdict_in(plan);
    };
    const std::string kept = "kept: uses only torch's stable ABI since 2.6";
    CHECK(verdict({"libcudart.so.13"}) ==
          "rebuild: needs libcudart.so.12, and torch 2.7.0+cu126 is linked to libcudart.so.13");
    CHECK(verdict({"libcudart.so.12", "libmpi.so.40"}) ==
          "rebuild: needs libmpi.so.12 (MPICH ABI), and torch 2.7.0+cu126 is linked to libmpi.so.40 (Open "
          "MPI 3 to 5)");
    CHECK(verdict({"libcudart.so.12"}) == kept);
    CHECK(verdict({}) == kept);
    judge_torch_abi(plan, {{"vision.whl", companion}});
    CHECK(verdict_in(plan) == kept);
}

TEST_CASE(
    "only the companions of torch that the index has are asked for, and the torch of another Python is "
    "another") {
    Plan plan = plan_with();
    CHECK(projects_of_torch(plan) == std::set<std::string>{"torch", "vision"});
    plan.cells[0].python = "3.12";
    judge_torch_abi(plan, {{"vision.whl", {{"torch==2.6.0"}, "false", "", "", ""}}});
    CHECK(verdict_in(plan).empty());
    plan.cells[2].wheel.reset();
    CHECK(projects_of_torch(plan).empty());
    plan = plan_with();
    plan.cells[2].against = "mpi4py==4.0.0";
    CHECK(projects_of_torch(plan).empty());
}

}  // namespace
}  // namespace wheelyard::builder
