#include "lib/wire/facts_json.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;

namespace {

inspect::Facts full_facts() {
    inspect::Facts facts;
    facts.size_bytes = 539'136'850;
    facts.unpacked_bytes = 5'000'000'000;  // more than 32 bits
    facts.members = 13'187;
    facts.tags = {{"cp312", "cp312", "linux_aarch64"}};
    facts.requires_python = ">=3.8";
    facts.elf_files = 17;
    facts.machines = {"aarch64"};
    facts.symbol_floors = {{"CXXABI", "1.3.9"}, {"GLIBC", "2.17"}};
    facts.needed_external = {"libc.so.6", "libcuda.so.1"};
    facts.needed = {{"system", {"libc.so.6"}}, {"cuda", {"libcuda.so.1"}}};
    facts.libc = {"glibc"};
    facts.manylinux_fit = "linux_aarch64";
    facts.search_paths = {"/sw/openmpi/4.1.5/lib"};
    facts.modules = {"openmpi/4.1.5"};
    facts.stable_abi_floor = "3.7";
    facts.cxx11_abi = "true";
    facts.isa_needed = "x86-64-v2";
    facts.isa_used = "x86-64-v3";
    facts.cpu_features = {"bti"};
    facts.elf_bytes = 3'000'000;
    facts.debug_bytes = 1'000'000;
    facts.torch_cxx11_abi = "false";
    facts.torch_at_least = "2.4";
    facts.torch_below = "2.9";
    facts.torch_requires = {"torch==2.4.0"};
    facts.cuda_sm = {"sm_90"};
    facts.cuda_ptx = {"compute_90"};
    facts.hip_gfx = {"gfx90a:xnack-"};
    return facts;
}

}  // namespace

TEST_CASE("facts are unchanged after a round trip through JSON") {
    const io::Json json = wire::facts_to_json(full_facts());
    const auto parsed = io::parse_json(json.render());
    REQUIRE(parsed);
    const auto back = wire::facts_from_json(*parsed);
    REQUIRE(back);
    CHECK(wire::facts_to_json(*back) == json);
    CHECK(back->tags == full_facts().tags);
    CHECK(back->needed == full_facts().needed);
    CHECK(back->modules == full_facts().modules);
    CHECK(back->torch_at_least == "2.4");
    CHECK(back->unpacked_bytes == 5'000'000'000);
}

TEST_CASE("unknown members are ignored and absent ones are empty") {
    const auto parsed = io::parse_json(R"({"size_bytes":1,"from_the_future":{"x":[1]}})");
    REQUIRE(parsed);
    const auto facts = wire::facts_from_json(*parsed);
    REQUIRE(facts);
    CHECK(facts->size_bytes == 1);
    CHECK(facts->machines.empty());
}

TEST_CASE("facts of wrong types are rejected") {
    for (const std::string_view text :
         {"[]", R"({"machines":"x86_64"})", R"({"machines":[1]})", R"({"members":-1})",
          R"({"tags":["nonsense"]})", R"({"needed":{"cuda":"libcuda.so.1"}})",
          R"({"symbol_floors":{"GLIBC":2}})"}) {
        const auto parsed = io::parse_json(text);
        REQUIRE(parsed);
        CAPTURE(text);
        CHECK_FALSE(wire::facts_from_json(*parsed));
    }
}

TEST_CASE("a verdict contains its code, severity, sentence, evidence and advice") {
    inspect::Inspection inspection;
    inspection.verdicts = {
        {"record.hash_mismatch", inspect::Severity::reject, "six.py", "sha256=a", "sha256=b"}};
    const io::Json json = wire::inspection_to_json("six-1.16.0-py3-none-any.whl", inspection);
    CHECK(json.string_or("format", "") == "wheelyard.facts/1");
    CHECK_FALSE(json.bool_or("accepted", true));
    const io::Json::Array* verdicts = json.find("verdicts")->as_array();
    REQUIRE(verdicts != nullptr);
    REQUIRE(verdicts->size() == 1);
    const io::Json& verdict = verdicts->front();
    CHECK(verdict.string_or("severity", "") == "reject");
    CHECK(verdict.string_or("member", "") == "six.py");
    CHECK(verdict.string_or("found", "") == "sha256=b");
    CHECK_FALSE(verdict.string_or("sentence", "").empty());
    CHECK_FALSE(verdict.string_or("advice", "").empty());
}

TEST_CASE("each ELF file lists its own needs, and each version under the library that must provide it") {
    inspect::ElfMember member{"demo/_core.so", {}};
    member.elf.machine = "aarch64";
    member.elf.os_abi = 3;
    member.elf.soname = "_core.so";
    member.elf.needed = {"libm.so.6", "libc.so.6"};
    member.elf.version_needs = {
        {"libm.so.6", "GLIBC_2.29"}, {"libc.so.6", "GLIBC_2.34"}, {"libm.so.6", "GLIBC_2.17"}};
    member.elf.search_paths = {"$ORIGIN"};
    member.gpu.cuda_sm = {"sm_90"};
    member.gpu.cuda_ptx = {"compute_90"};
    member.gpu.hip_gfx = {"gfx90a:xnack-"};
    CHECK(
        wire::elves_to_json({member}).render() ==
        R"([{"name":"demo/_core.so","machine":"aarch64","bits":64,"byte_order":"little","abi":"GNU","soname":"_core.so",)"
        R"("needed":["libm.so.6","libc.so.6"],)"
        R"("version_needs":{"libc.so.6":["GLIBC_2.34"],"libm.so.6":["GLIBC_2.17","GLIBC_2.29"]},)"
        R"("search_paths":["$ORIGIN"],"cxx11_abi":"unknown","cuda_sm":["sm_90"],"cuda_ptx":["compute_90"],"hip_gfx":["gfx90a:xnack-"]}])");
}
