// A variant's promises against facts.
#include "lib/inspect/truth/tag_truth.hpp"

#include <doctest/doctest.h>

#include "lib/inspect/verdict/policy.hpp"

using namespace wheelyard;

namespace {

using Properties = std::vector<wheel::VariantProperty>;

// "expected | found" of each finding, after "not judged: " of a note.
std::vector<std::string> judged(Properties properties, const inspect::Facts& facts) {
    const inspect::Policy policy;
    inspect::Findings findings(policy);
    inspect::check_variant_truth({{}, std::move(properties), {}}, facts, findings);
    std::vector<std::string> all;
    for (const auto& verdict : findings.take()) {
        const bool is_note = verdict.code == "variant.unproven";
        CHECK((is_note || verdict.code == "variant.promise"));
        all.push_back((is_note ? "not judged: " : "") + verdict.expected + " | " + verdict.found);
    }
    return all;
}

inspect::Facts needing(const std::string& level) {
    inspect::Facts facts;
    facts.isa_needed = level;
    return facts;
}

inspect::Facts compiled_for(std::vector<std::string> sm, std::vector<std::string> ptx) {
    inspect::Facts facts;
    facts.device_code["cuda_sm"] = std::move(sm);
    facts.device_code["cuda_ptx"] = std::move(ptx);
    return facts;
}

const wheel::VariantProperty v2{"x86_64", "level", "v2"}, v3{"x86_64", "level", "v3"},
    v4{"x86_64", "level", "v4"};
const wheel::VariantProperty real_90{"nvidia", "sm_arch", "90_real"},
    ptx_90{"nvidia", "sm_arch", "90_virtual"};
const Properties nothing;
const std::vector<std::string> kept;

}  // namespace

TEST_CASE("code may need the lowest level that a variant promises, and no more") {
    CHECK(judged({v3}, needing("x86-64-v3")) == kept);
    CHECK(judged({v4}, needing("x86-64-v3")) == kept);
    CHECK(judged({v2}, needing("x86-64-v3")) ==
          std::vector<std::string>{"x86_64 :: level :: v2 | x86-64-v3"});
    CHECK(judged({v4, v2}, needing("x86-64-v3")).size() == 1);  // a node of v2 takes it, too
    CHECK(judged({v2}, needing("")) ==
          std::vector<std::string>{"not judged: x86_64 :: level | no file notes the level that it needs"});
    CHECK(judged(nothing, needing("x86-64-v4")) == kept);
    CHECK(judged({{"site", "level", "v2"}}, needing("x86-64-v3")) == kept);
}

TEST_CASE("each GPU that a variant promises is among those that the code was compiled for") {
    CHECK(judged({real_90}, compiled_for({"sm_80", "sm_90"}, {})) == kept);
    CHECK(judged({real_90}, compiled_for({"sm_80"}, {"compute_90"})) ==
          std::vector<std::string>{"nvidia :: sm_arch :: 90_real (sm_90) | sm_80"});
    CHECK(judged({ptx_90}, compiled_for({"sm_90"}, {"compute_90"})) == kept);
    CHECK(judged({ptx_90}, compiled_for({"sm_90"}, {})) ==
          std::vector<std::string>{"nvidia :: sm_arch :: 90_virtual (compute_90) | none"});
    CHECK(judged({{"nvidia", "sm_arch", "90a_real"}}, compiled_for({"sm_90"}, {})).size() == 1);
    CHECK(judged({{"nvidia", "sm_arch", "90a_real"}}, compiled_for({"sm_90a"}, {})) == kept);
}

// NVIDIA's minor version compatibility: a driver of CUDA 12.x runs what was built with any 12.y, and nothing of 13.
TEST_CASE("the oldest driver that a variant promises runs a CUDA runtime that the wheel needs") {
    const auto needing_cuda = [](const std::vector<std::string>& libraries) {
        inspect::Facts facts;
        facts.needed["cuda"] = libraries;
        return facts;
    };
    const wheel::VariantProperty from_12_6{"nvidia", "cuda_version_lower_bound", "12.6"},
        from_13{"nvidia", "cuda_version_lower_bound", "13.0"},
        before_13{"nvidia", "cuda_version_upper_bound", "13"};
    const std::vector<std::string> refuted{"nvidia :: cuda_version_lower_bound :: 12.6 | libcudart.so.13"};
    CHECK(judged({from_12_6}, needing_cuda({"libcublas.so.13", "libcudart.so.12"})) == kept);
    CHECK(judged({from_13}, needing_cuda({"libcudart.so.12"})) == kept);
    CHECK(judged({from_12_6}, needing_cuda({"libcudart.so.13"})) == refuted);
    CHECK(judged({from_12_6, from_13}, needing_cuda({"libcudart.so.13"})) == refuted);
    CHECK(judged({from_12_6}, needing_cuda({"libcudart.so.11.0", "libcudart.so.13"})) == kept);
    CHECK(judged({before_13}, needing_cuda({"libcudart.so.13"})) == kept);
    CHECK(judged({from_12_6}, needing_cuda({"libcufft.so.13"})) == kept);
    CHECK(judged({from_12_6}, needing_cuda({})) == kept);
}

TEST_CASE("what the facts do not say of GPUs is not judged, which a note says") {
    // No device code: a part of a platform, its requirements', or a wrong label.
    CHECK(judged({real_90, ptx_90}, inspect::Facts{}) ==
          std::vector<std::string>{"not judged: nvidia :: sm_arch | no device code was read"});
    inspect::Facts facts = compiled_for({"sm_80"}, {});
    facts.device_code_not_read = {"cuda"};
    CHECK(judged({real_90}, facts) ==
          std::vector<std::string>{"not judged: nvidia :: sm_arch | some device code was not read"});
    CHECK(judged({{"nvidia", "cuda_version_lower_bound", "12.6"}}, compiled_for({"sm_80"}, {})) == kept);
    CHECK(judged({{"amd", "gfx_arch", "gfx90a"}}, compiled_for({"sm_80"}, {})) == kept);
}
