// What a site declares of its variants against facts: the properties that follow, and each reason for none.
#include "lib/inspect/truth/declared_variant.hpp"

#include <doctest/doctest.h>

#include "lib/base/text/text.hpp"
#include "lib/inspect/truth/tag_truth.hpp"
#include "lib/inspect/verdict/policy.hpp"

using namespace wheelyard;

namespace {

// The wheel of a build for A100 and GH200, as the rows change it.
struct DeclaredBuild {
    wheel::LabelledVariant declared{"gpus", {{"nvidia", "cuda_version_lower_bound", "12.6"}}};
    inspect::Facts facts;
    inspect::BuiltFor built{accelerator::find_accelerator_kind("cuda"), "baseline", "cu126.gh200"};
    DeclaredBuild() {
        facts.machines = {"x86_64"};
        facts.device_code = {{"cuda_sm", {"sm_80", "sm_90a"}}, {"cuda_ptx", {"compute_90"}}};
        facts.needed = {{"cuda", {"libcublas.so.12", "libcudart.so.12"}}};
    }
    void declare_level(const std::string& level) {
        declared.properties.push_back({"x86_64", "level", level});
    }
    // For processors alone, with nothing declared.
    void leave_gpus_out() {
        declared = {"null", {}};
        facts.device_code.clear();
        facts.needed.clear();
        built.kind = nullptr;
        built.local = {};
    }
};

std::string text_of(const std::vector<wheel::VariantProperty>& properties) {
    std::vector<std::string> texts;
    for (const auto& property : properties)
        texts.push_back(property.text());
    return base::join(texts, ", ");
}

using Change = void (*)(DeclaredBuild&);

}  // namespace

TEST_CASE("a variant has what is declared, and a property for all code, and the registry's rules agree") {
    const std::string gpus =
        "nvidia :: cuda_version_lower_bound :: 12.6, nvidia :: sm_arch :: 80_real, "
        "nvidia :: sm_arch :: 90_virtual, nvidia :: sm_arch :: 90a_real";
    struct Row {
        Change change;
        std::string properties;
    };
    for (const Row& row : {
             Row{[](auto&) {}, gpus},
             Row{[](auto& one) {
                     one.declare_level("v3");
                     one.facts.isa_needed = one.built.cpu = "x86-64-v3";
                 },
                 gpus + ", x86_64 :: level :: v3"},
             Row{[](auto& one) {
                     one.built.modules = {"gcc/13.2", "cuda/12.6.1"};
                 },
                 gpus},
             Row{[](auto& one) { one.facts.needed.clear(); }, gpus},  // the runtime is linked into it
             Row{[](auto& one) { one.leave_gpus_out(); }, ""},
             Row{[](auto& one) {
                     one.leave_gpus_out();
                     one.facts.isa_needed = "x86-64";
                 },
                 ""},
         }) {
        DeclaredBuild one;
        row.change(one);
        const auto variant = inspect::prove_variant(one.declared, one.facts, one.built);
        REQUIRE_MESSAGE(variant.has_value(), variant.error().text());
        CHECK(variant->label == one.declared.label);
        CHECK(text_of(variant->properties) == row.properties);
        const inspect::Policy policy;
        inspect::Findings findings(policy);
        inspect::check_variant_truth({{}, variant->properties, {}}, one.facts, findings);
        CHECK(findings.take().empty());
    }
}

TEST_CASE("there is no variant of what contradicts the declaration, or of what no property can say") {
    struct Row {
        std::string value;  // in the error
        Change change;
    };
    for (const Row& row : {
             Row{"CUDA", [](auto& one) { one.facts.device_code.clear(); }},
             Row{"CUDA", [](auto& one) { one.facts.device_code_not_read = {"cuda"}; }},
             Row{"oneAPI", [](auto& one) { one.facts.device_code_not_read = {"xpu"}; }},
             Row{"gfx90a", [](auto& one) { one.facts.device_code["hip_gfx"] = {"gfx90a"}; }},
             Row{"sm_80",
                 [](auto& one) {
                     one.leave_gpus_out();
                     one.facts.device_code["cuda_sm"] = {"sm_80"};
                 }},
             Row{"libcudart.so.12",
                 [](auto& one) {
                     one.leave_gpus_out();
                     one.facts.needed["cuda"] = {"libcudart.so.12"};
                 }},
             Row{"libamdhip64.so.6", [](auto& one) { one.facts.needed["rocm"] = {"libamdhip64.so.6"}; }},
             Row{"libmpi.so.12", [](auto& one) { one.facts.needed["mpi"] = {"libmpi.so.12"}; }},
             Row{"/apps/cuda/lib64", [](auto& one) { one.facts.search_paths = {"/apps/cuda/lib64"}; }},
             Row{"x86-64-v2", [](auto& one) { one.facts.isa_needed = "x86-64-v2"; }},
             Row{"x86-64-v4",
                 [](auto& one) {
                     one.declare_level("v3");
                     one.facts.isa_needed = "x86-64-v4";
                 }},
             Row{"x86-64-v3", [](auto& one) { one.built.cpu = "x86-64-v3"; }},
             Row{"x86-64-v4",
                 [](auto& one) {
                     one.declare_level("v3");
                     one.built.cpu = "x86-64-v4";
                 }},
             Row{"-march=native",
                 [](auto& one) {
                     one.declare_level("v4");
                     one.built.cpu = "-march=native";
                 }},
             Row{"-mcpu=neoverse-v2",
                 [](auto& one) {
                     one.facts.machines = {"aarch64"};
                     one.built.cpu = "-mcpu=neoverse-v2";
                 }},
             Row{"aarch64",
                 [](auto& one) {
                     one.declare_level("v3");
                     one.facts.machines = {"aarch64"};
                 }},
             Row{"13", [](auto& one) { one.facts.needed["cuda"] = {"libcudart.so.13"}; }},
             Row{"11.0", [](auto& one) { one.facts.needed["cuda"] = {"libcudart.so.11.0"}; }},
             Row{"12.8", [](auto& one) { one.built.local = "cu128.gh200"; }},
             Row{"12.9", [](auto& one) { one.built.modules = {"cuda/12.9.1"}; }},
             Row{"12.8", [](auto& one) { one.built.modules = {"cudatoolkit/24.11_12.8"}; }},
         }) {
        CAPTURE(row.value);
        DeclaredBuild one;
        row.change(one);
        const auto variant = inspect::prove_variant(one.declared, one.facts, one.built);
        REQUIRE(!variant.has_value());
        CHECK(variant.error().code == "variant.unproven");
        CHECK(variant.error().value == row.value);
    }
}
