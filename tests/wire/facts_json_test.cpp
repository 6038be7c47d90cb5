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
    facts.provides = {"libsix.so.1"};
    facts.library_sha256 = {{"libsix.so.1", "5a5a"}};
    facts.machines = {"aarch64"};
    facts.symbol_floors = {{"CXXABI", "1.3.9"}, {"GLIBC", "2.17"}};
    facts.needed_external = {"libc.so.6", "libcuda.so.1"};
    facts.needed = {{"system", {"libc.so.6"}}, {"cuda", {"libcuda.so.1"}}};
    facts.libc = {"glibc"};
    facts.manylinux_fit = "linux_aarch64";
    facts.musllinux_fit = "musllinux_1_2_aarch64";
    facts.not_judged = {"linux_mips64"};
    facts.needed_later = {{"libX11.so.6", "six.draw"}};
    facts.needed_maybe = {{"libGL.so.1", "six.gl"}};
    facts.needed_surely = {{"libodbc.so.2", "six.db"}};
    facts.sure_imports = {{"cgi", "six"}};
    facts.search_paths = {"/sw/openmpi/4.1.5/lib"};
    facts.modules = {"openmpi/4.1.5"};
    facts.stable_abi_floor = "3.7";
    facts.cxx11_abi = "true";
    facts.isa_needed = "x86-64-v2";
    facts.isa_used = "x86-64-v3";
    facts.avx_code = "six._six";
    facts.avx512_code = "six._kernels";
    facts.sve_code = "six._arm";
    facts.executable_stack = "six._old";
    facts.pypy_names = {{"six._six", {"PyPyList_New"}}};
    facts.pypy_later = {{"six.more", {"PyPyList_Size"}}};
    facts.cpu_features = {"bti"};
    facts.elf_bytes = 3'000'000;
    facts.debug_bytes = 1'000'000;
    facts.torch_cxx11_abi = "false";
    facts.torch_stable_abi = "false";
    facts.torch_at_least = "2.4";
    facts.torch_below = "2.9";
    facts.torch_requires = {"torch==2.4.0"};
    facts.requires_dist = {"numpy", "torch==2.4.0"};
    facts.device_code["cuda_sm"] = {"sm_90"};
    facts.device_code["cuda_ptx"] = {"compute_90"};
    facts.device_code["hip_gfx"] = {"gfx90a:xnack-"};
    return facts;
}

}  // namespace

TEST_CASE("a stored row has the findings with their evidence, worst first, and at most 40") {
    inspect::Inspection inspection;
    CHECK(wire::stored_facts_to_json(inspection).find("findings")->render() == "[]");
    inspection.facts.components.list = {{"zlib", "1.2.11", "", "6b6b"}};
    CHECK(wire::stored_facts_to_json(inspection).find("sbom")->render() ==
          R"([{"name":"zlib","version":"1.2.11","sha256":"6b6b"}])");
    inspection.verdicts = {{"zip.name_case", inspect::Severity::warn, "a/B.py", "", "a/b.py"}};
    inspection.verdicts.resize(100, inspection.verdicts.front());
    const io::Json json = wire::stored_facts_to_json(inspection);
    CHECK(json.find("tags") != nullptr);
    const auto& findings = *json.find("findings")->as_array();
    CHECK(findings.size() == 40);
    CHECK(findings.front().render() ==
          R"({"code":"zip.name_case","severity":"warn","member":"a/B.py","found":"a/b.py"})");
}

TEST_CASE("facts as JSON: every member, lists that are empty too, and no text that says nothing") {
    CHECK(
        wire::facts_to_json(full_facts()).render() ==
        R"({"size_bytes":539136850,"unpacked_bytes":5000000000,"members":13187,"elf_files":17,"elf_bytes":3000000,)"
        R"("debug_bytes":1000000,"tags":["cp312-cp312-linux_aarch64"],"root_is_purelib":false,"requires_python":">=3.8",)"
        R"("symbol_floors":{"CXXABI":"1.3.9","GLIBC":"2.17"},"machines":["aarch64"],)"
        R"("needed_external":["libc.so.6","libcuda.so.1"],"libc":["glibc"],"not_judged":["linux_mips64"],"search_paths":["/sw/openmpi/4.1.5/lib"],)"
        R"("modules":["openmpi/4.1.5"],"cpu_features":["bti"],"torch_requires":["torch==2.4.0"],"requires_dist":["numpy","torch==2.4.0"],"cuda_sm":["sm_90"],)"
        R"("cuda_ptx":["compute_90"],"hip_gfx":["gfx90a:xnack-"],"provides":["libsix.so.1"],"library_sha256":{"libsix.so.1":"5a5a"},)"
        R"("needed":{"cuda":["libcuda.so.1"],"system":["libc.so.6"]},"needed_later":{"libX11.so.6":"six.draw"},)"
        R"("needed_maybe":{"libGL.so.1":"six.gl"},"needed_surely":{"libodbc.so.2":"six.db"},"sure_imports":{"cgi":"six"},"pypy_names":{"six._six":["PyPyList_New"]},)"
        R"("pypy_later":{"six.more":["PyPyList_Size"]},)"
        R"("manylinux_fit":"linux_aarch64",)"
        R"("musllinux_fit":"musllinux_1_2_aarch64",)"
        R"("stable_abi_floor":"3.7","cxx11_abi":"true","isa_needed":"x86-64-v2","isa_used":"x86-64-v3","avx_code":"six._six",)"
        R"("avx512_code":"six._kernels","sve_code":"six._arm","executable_stack":"six._old",)"
        R"("torch_cxx11_abi":"false","torch_stable_abi":"false","torch_at_least":"2.4","torch_below":"2.9"})");
    CHECK(
        wire::facts_to_json({}).render() ==
        R"({"size_bytes":0,"unpacked_bytes":0,"members":0,"elf_files":0,"elf_bytes":0,"debug_bytes":0,"tags":[],)"
        R"("root_is_purelib":false,"requires_python":"","symbol_floors":{},"machines":[],"needed_external":[],"libc":[],"not_judged":[],)"
        R"("search_paths":[],"modules":[],"cpu_features":[],"torch_requires":[],"requires_dist":[],"cuda_sm":[],"cuda_ptx":[],)"
        R"("hip_gfx":[],"needed":{}})");
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
    member.gpu.code["cuda_sm"] = {"sm_90"};
    member.gpu.code["cuda_ptx"] = {"compute_90"};
    member.gpu.code["hip_gfx"] = {"gfx90a:xnack-"};
    CHECK(
        wire::elves_to_json({member}).render() ==
        R"([{"name":"demo/_core.so","machine":"aarch64","bits":64,"byte_order":"little","abi":"GNU","soname":"_core.so",)"
        R"("needed":["libm.so.6","libc.so.6"],)"
        R"("version_needs":{"libc.so.6":["GLIBC_2.34"],"libm.so.6":["GLIBC_2.17","GLIBC_2.29"]},)"
        R"("search_paths":["$ORIGIN"],"cxx11_abi":"unknown","cuda_sm":["sm_90"],"cuda_ptx":["compute_90"],"hip_gfx":["gfx90a:xnack-"]}])");
}
