#include "indexer/avail_wheels/query/fit.hpp"

#include <doctest/doctest.h>

#include "tests/indexer/avail_wheels/query/judged.hpp"

using namespace wheelyard;
using namespace wheelyard::avail_wheels;

TEST_CASE("a variant is judged by the properties that the node has, and is never a plain yes (PEP 825)") {
    const auto wheel = [](const std::string& properties, const std::string& label = "a") {
        return wheel_of("six-1.17.0-py3-none-any-" + label + ".whl",
                        R"({"variant":{"variants":{"a":)" + properties + "}}}");
    };
    const auto level = [](const std::string& values) { return R"({"x86_64":{"level":[)" + values + "]}}"; };
    const auto sm = [](const std::string& values) { return R"({"nvidia":{"sm_arch":[)" + values + "]}}"; };
    Node node = h100();
    node.cpu = "x86-64-v3";
    node.gpus = Gpus{{"sm_86"}, {}};
    struct Row {
        std::string properties;
        const char* answer;
        const char* why;
    };
    for (const Row& row :
         {Row{"{}", "unknown variant", "the null variant"},
          Row{level(R"("v1")"), "unknown variant", "level :: v1"},
          Row{level(R"("v3")"), "unknown variant", "uv takes it"},
          Row{level(R"("v4")"), "no variant", "x86_64 :: level :: v4, which this node does not have"},
          Row{level(R"("v3","v4")"), "unknown variant", "level :: v3 or x86_64 :: level :: v4; pip"},
          // The psABI has the levels v1 to v4; what others mean is not known.
          Row{level(R"("2")"), "unknown variant", "whether this node has that is not known"},
          Row{level(R"("v10")"), "unknown variant", "whether this node has that is not known"},
          Row{level(R"("v5")"), "unknown variant", "whether this node has that is not known"},
          Row{level(R"("v")"), "unknown variant", "whether this node has that is not known"},
          // CUDA's binary compatibility: within the major version, upwards.
          Row{sm(R"("86_real")"), "unknown variant", "uv takes it"},
          Row{sm(R"("80_real","90_real")"), "unknown variant", "uv takes it"},
          Row{sm(R"("90_real")"), "no variant", "nvidia :: sm_arch :: 90_real"},
          Row{sm(R"("75_virtual")"), "unknown variant", "uv takes it"},
          Row{R"({"nvidia":{"sm_arch":["86_real"]},"x86_64":{"level":["v4"]}})", "no variant", "level :: v4"},
          Row{R"({"amd":{"gfx_arch":["gfx90a"]}})", "unknown variant",
              "whether this node has that is not known"},
          Row{R"({"amd":{"gfx_arch":["gfx90a"]},"x86_64":{"level":["v4"]}})", "no variant", "level :: v4"}}) {
        CAPTURE(row.properties);
        CHECK(found(wheel(row.properties), node) == row.answer);
        CHECK(judge(wheel(row.properties), node, {}).why.find(row.why) != std::string::npos);
    }
    CHECK(found(wheel("{}", "b"), node) == "no variant");  // of another label
    node.gpus = Gpus{};
    CHECK(found(wheel(sm(R"("86_real")")), node) == "no variant");
    node.gpus.reset();
    CHECK(judge(wheel(sm(R"("86_real")")), node, {}).why.find("not known") != std::string::npos);
    node.cpu.clear();
    CHECK(judge(wheel(level(R"("v3")")), node, {}).why.find("not known") != std::string::npos);
    node.machine = "aarch64";
    CHECK(found(wheel(level(R"("v1")")), node) == "no variant");
}

TEST_CASE("a bound of a variant is held against the CUDA of the driver, and both versions are named") {
    const auto wheel = [](const std::string& feature, const std::string& value) {
        return wheel_of("six-1.17.0-py3-none-any-a.whl", R"({"variant":{"variants":{"a":{"nvidia":{")" +
                                                             feature + R"(":[")" + value + R"("]}}}}})");
    };
    const std::string lower = "cuda_version_lower_bound", upper = "cuda_version_upper_bound";
    struct Row {
        std::string feature, value;
        const char* why;
    };
    const Row rows[] = {
        {lower, "12.4", "uv takes it"},
        {lower, "12", "uv takes it"},
        {lower, "11.8", "uv takes it"},
        {lower, "12.6",
         "nvidia :: cuda_version_lower_bound :: 12.6, which this node does not have: its "
         "driver is 550.54.15 (CUDA 12.4)"},
        {lower, "13", "which this node does not have"},
        {upper, "12.5", "uv takes it"},
        {upper, "13", "uv takes it"},
        {upper, "12.4",
         "nvidia :: cuda_version_upper_bound :: 12.4, which this node does not have: its "
         "driver is 550.54.15 (CUDA 12.4)"},
        {upper, "12", "which this node does not have"},
        {lower, "twelve", "whether this node has that is not known"},
    };
    for (const auto& [feature, value, why] : rows) {
        CAPTURE(feature);
        CAPTURE(value);
        const Fit fit = judge(wheel(feature, value), h100(), {});
        CHECK(fit.why.find(why) != std::string::npos);
        CHECK(fit.runs == (fit.why.find("does not have") == std::string::npos ? Runs::unknown : Runs::no));
    }
    Node node = h100();
    node.driver = Dotted::parse("999.1");  // which may support any newer CUDA
    CHECK(found(wheel(lower, "12.6"), node) == "unknown variant");
    CHECK(judge(wheel(lower, "99.0"), node, {}).why.find("not known") != std::string::npos);
    CHECK(judge(wheel(upper, "99.0"), node, {}).why.find("not known") != std::string::npos);
    CHECK(found(wheel(upper, "12.6"), node) == "no variant");
    node.driver.reset();
    CHECK(judge(wheel(lower, "12.4"), node, {}).why.find("not known") != std::string::npos);
    node.gpus = Gpus{{"gfx90a"}, {}};
    CHECK(found(wheel(lower, "12.4"), node) == "no variant");
    CHECK(found(wheel(upper, "13"), node) == "no variant");
    node.gpus.reset();
    CHECK(judge(wheel(lower, "12.4"), node, {}).why.find("not known") != std::string::npos);
}

TEST_CASE(
    "a wheel for Intel's GPUs is unknown where they are, because its code is not read, and no on other "
    "GPUs") {
    Node aurora = h100();
    aurora.gpus = Gpus{{"pvc"}, {}};
    aurora.driver.reset();
    constexpr const char* for_xpu = "torch-2.12.0+xpu-cp311-cp311-linux_x86_64.whl";
    constexpr const char* facts =
        R"({"machines":["x86_64"],"device_code_not_read":["xpu"],"needed":{"intel":["libsycl.so.8"]}})";
    for (const char* known : {"", facts}) {
        CAPTURE(known);
        CHECK(found(wheel_of(for_xpu, known), aurora) == "unknown gpu");
        CHECK(found(wheel_of(for_xpu, known), h100()) == "no gpu");
    }
    const Fit on_h100 = judge(wheel_of(for_xpu), h100(), {});
    CHECK(on_h100.why == "built for Intel (oneAPI), here is sm_90");
    CHECK(on_h100.advice == "look for a CUDA build");
    CHECK(judge(wheel_of(for_xpu), aurora, {}).why == "its oneAPI code is not read");
    // Other wheels there.
    CHECK(found(wheel_of(x86, R"({"cuda_sm":["sm_90"]})"), aurora) == "no gpu");
    CHECK(judge(wheel_of(x86, R"({"hip_gfx":["gfx90a"]})"), aurora, {}).advice == "look for a oneAPI build");
    CHECK(found(wheel_of(x86, "{}"), aurora) == "yes");
    // What only links SYCL also runs on processors.
    CHECK(found(wheel_of("dpctl-0.22.1-cp311-cp311-linux_x86_64.whl", facts), aurora) == "yes");
    CHECK(found(wheel_of("dpctl-0.22.1-cp311-cp311-linux_x86_64.whl", facts), h100()) == "yes");
    // As with CUDA's, where there is no GPU its other code runs.
    aurora.gpus = Gpus{};
    CHECK(found(wheel_of(for_xpu, "{}"), aurora) == "yes");
    aurora.gpus.reset();
    CHECK(found(wheel_of(for_xpu), aurora) == "unknown gpu");
}
