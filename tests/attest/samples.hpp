// A wheel's provenance, its statements, and who signs them.
#pragma once

#include <string>

#include "lib/attest/root.hpp"
#include "lib/attest/verify.hpp"
#include "lib/attest/wheel_statements.hpp"
#include "lib/base/digest/digest.hpp"

namespace wheelyard::attest {

inline constexpr base::UnixMicros sample_time = 1'790'000'000'000'000;  // 2026-09-21T14:13:20Z

inline wire::WheelProvenance sample_said() {
    wire::WheelProvenance said;
    said.wheel = {"demo-1.0-cp311-cp311-linux_x86_64.whl", std::string(64, 'a'), 23'000};
    said.site = "debian 12";
    said.program = "wheelyard-builder 0.1.0";
    said.attempt = "w1kq7x9aab3cde";
    said.cell = "demo-1.0-cp311-cuda";
    said.package = "demo";
    said.version = "1.0";
    said.python = "3.11";
    said.accelerator = "cuda-12";
    said.began = sample_time - 60'000'000;
    said.source = {"sdist", "https://example.org/demo 1.0.tar.gz", "demo-1.0.tar.gz", std::string(64, 'b')};
    said.build.script_sha256 = std::string(64, 'c');
    said.build.system = "Linux 6.1 x86_64";
    said.build.modules = {"gcc/12.2"};
    said.build.tools = {{"c++", "c++ (GCC) 12.2.0"}};
    said.build.environment = {{"CFLAGS", "-O2 -march=\"native\""}};
    said.build.requirements = {{"setuptools-80.0-py3-none-any.whl", "sha256:" + std::string(64, 'd')},
                               {"odd-1.0-py3-none-any.whl", "md5:00"}};
    said.recipe = "demo.toml";
    said.recipe_sha256 = std::string(64, 'e');
    said.node_type = "gh";
    said.governed = wire::GovernedBuild{.compiles = 140,
                                        .killed = 1,
                                        .high_water_bytes = 6'100'000'000,
                                        .limit_bytes = 8'000'000'000,
                                        .limit = "cgroup",
                                        .worst = {},
                                        .messages = {}};
    said.log = "wheelyard-builder logs w1kq7x9aab3cde";
    return said;
}

inline Proved sample_proved() {
    const auto facts = io::parse_json(
        R"({"size_bytes":23000,"members":7,"tags":["cp311-cp311-linux_x86_64"],"machines":["x86_64"],)"
        R"("symbol_floors":{"GLIBC":"2.17"},"manylinux_fit":"manylinux_2_17_x86_64","search_paths":[],)"
        R"("cuda_sm":["sm_80","sm_90"],"findings":[{"code":"zip.name_case","severity":"warn","member":"a"}]})");
    return {"demo", "1.0", "accepted", *facts};
}

inline Received sample_received() {
    return {"https://wheels.example.org", "main", "wy_5f0c9a31d2be", sample_time, Level::one};
}

// The signed form of `said`, as the registry stores it.
inline std::string sample_signed(const SigningKey& key, const wire::WheelProvenance& said = sample_said(),
                                 const Received& received = sample_received()) {
    return sign_wheel(wire::render_wheel_provenance(said), said, sample_proved(), received, key).value();
}

// A root with one root key and one provenance key.
inline Root sample_root(const SigningKey& root_key, const SigningKey& key, std::int64_t version = 1) {
    Root root;
    root.version = version;
    root.expires = sample_time + 1'000'000;
    for (const PublicKey* one : {&root_key.public_key(), &key.public_key()})
        root.keys.emplace(one->id(), *one);
    root.roots = {root_key.public_key().id()};
    root.provenance = {key.public_key().id()};
    return root;
}

}  // namespace wheelyard::attest
