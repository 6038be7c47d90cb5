// Nodes and wheels for the tests of judge().
#pragma once

#include <string>

#include "indexer/avail_wheels/query/fit.hpp"
#include "tests/indexer/avail_wheels/sample_wheels.hpp"

namespace wheelyard::avail_wheels {

// A Debian 12 node with an H100, a driver of CUDA 12.4 and Python 3.11.
inline Node h100() {
    Node node;
    node.machine = "x86_64";
    node.glibc = Dotted::parse("2.36");
    node.cpu = "x86-64-v4";
    node.gpus = Gpus{{"sm_90"}, {}};
    node.driver = Dotted::parse("550.54.15");
    node.pythons = {*parse_python("3.11.2")};
    node.modules = std::vector<std::string>{"gcc/12.2", "openmpi/4.1.6"};
    return node;
}

inline Candidate wheel_of(const std::string& filename, const std::string& facts = {},
                          const std::string& arch = {}) {
    auto candidate = make_candidate(filename, arch);
    candidate.facts = facts;
    return candidate;
}

inline std::string found(const Candidate& candidate, const Node& node, const Site& site = {}) {
    const Fit fit = judge(candidate, node, site);
    return std::string(runs_text(fit.runs)) + (fit.code.empty() ? "" : " " + fit.code);
}

inline constexpr const char* x86 = "torch-2.4.0-cp311-cp311-linux_x86_64.whl";

inline std::string needing(const std::string& libraries, const std::string& floors,
                           const std::string& rest = {}) {
    return R"({"machines":["x86_64"],"requires_dist":[)" + rest + R"(],"needed":{)" + libraries +
           R"(},"symbol_floors":{)" + floors + "}}";
}

// Debian 12's GCC libraries, as the loader of its Python finds them.
inline Node debian12() {
    Node node = h100();
    node.gpus = Gpus{};
    node.modules.reset();
    node.libraries["libstdc++.so.6"] = {
        "/lib/libstdc++.so.6", {{"GLIBCXX", *Dotted::parse("3.4.30")}, {"CXXABI", *Dotted::parse("1.3.13")}}};
    node.libraries["libgomp.so.1"] = {"/lib/libgomp.so.1", {{"GOMP", *Dotted::parse("5.1")}}};
    node.libraries["libgsl.so.27"] = {};
    node.libraries["libGL.so.1"] = {};
    node.libraries["libtbb.so.12"] = {};
    node.libraries["libtorch.so"] = {};
    node.libraries["libcudf.so"] = {};
    node.libraries["libmpi.so.40"] = {};
    node.libraries["libcuda.so.1"] = {};
    return node;
}

inline constexpr const char* cxx = R"("system":["libc.so.6","libstdc++.so.6"])";
inline constexpr const char* manylinux = "torch-2.4.0-cp311-cp311-manylinux_2_28_x86_64.whl";

}  // namespace wheelyard::avail_wheels
