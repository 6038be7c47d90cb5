// Libraries that the projects of Requires-Dist bring.
#include "lib/inspect/truth/gather_facts.hpp"

#include <map>
#include <string>

#include "lib/base/digest/digest.hpp"
#include "tests/inspect/sample.hpp"

using namespace wheelyard;
using namespace wheelyard::inspect_test;

TEST_CASE("the index knows which project brings a library; without it a table of families does") {
    const auto index = [](std::string_view project) {
        return project == "odd-lib" ? inspect::LibraryNames{"libodd.so.3"} : inspect::LibraryNames();
    };
    const inspect::RequiredLibraries required({"numpy>=2", "Odd.Lib ==3.*", "never; extra == 'x'"}, index);
    CHECK(required.project_of("libodd.so.3") == "odd-lib");
    CHECK(required.project_of("$ORIGIN/../odd/libodd.so.3") == "odd-lib");
    CHECK(required.project_of("/opt/odd/libodd.so.3").empty());
    CHECK(required.project_of("libodd.so.4").empty());
    CHECK(required.project_of("librmm.so").empty());

    struct Row {
        std::string library, requirement, project;
    };
    for (const Row& row :
         {Row{"librmm.so", "librmm-cu12==26.10.*", "librmm-cu12"},
          Row{"librapids_logger.so", "rmm-cu13==26.10.*", "rmm-cu13"},
          Row{"libcudf.so", "libcudf-cu12==26.10.*", "libcudf-cu12"},
          Row{"libcuvs_c.so", "libcuvs-cu12==26.10.*", "libcuvs-cu12"},
          Row{"libhwloc.so.15", "tcmlib (==1.*)", "tcmlib"}, Row{"libumf.so.1", "umf (==1.2.*)", "umf"},
          Row{"libxptifw.so.1", "intel-cmplr-lib-rt (==2026.2.0)", "intel-cmplr-lib-rt"},
          Row{"libDPCTLSyclInterface.so", "dpctl >=0.22.0", "dpctl"}, Row{"libhwloc.so.15", "numpy", ""},
          Row{"libgsl.so.27", "tbb", ""}}) {
        CAPTURE(row.library);
        CHECK(inspect::RequiredLibraries({row.requirement}, {}).project_of(row.library) == row.project);
    }
}

TEST_CASE("the index is asked once for each required project, for no more than a limit") {
    std::vector<std::string> asked;
    const auto index = [&](std::string_view project) {
        asked.emplace_back(project);
        return project == "p1" ? inspect::LibraryNames{"libone.so"} : inspect::LibraryNames();
    };
    std::vector<std::string> lines;
    for (int i = 0; i < 1000; ++i) {
        lines.push_back("P" + std::to_string(i));
        lines.push_back("p" + std::to_string(i) + " >=1");
    }
    const inspect::RequiredLibraries required(lines, index);
    CHECK(asked.empty());
    CHECK(required.project_of("libone.so") == "p1");
    CHECK(asked == std::vector<std::string>{"p0", "p1"});
    for (int i = 0; i < 1000; ++i)
        CHECK(required.project_of("libother" + std::to_string(i) + ".so").empty());
    CHECK(required.project_of("libone.so.1").empty());
    CHECK(asked.size() == inspect::max_required_projects);
    CHECK(std::set<std::string>(asked.begin(), asked.end()).size() == asked.size());
}

TEST_CASE("a required library is a fact of its own kind, and no finding that quarantines") {
    const auto needing = [](const std::string& requirement) {
        return with_elf(
            "cp311-cp311-manylinux_2_28_x86_64", {.needed = {"libc.so.6", "librmm.so"}}, "six/_six.so",
            "1.16.0", [requirement](WheelWriter& w) { w.metadata_line("Requires-Dist: " + requirement); })();
    };
    const auto required = checked(needing("librmm-cu12"));
    CHECK(required.outcome() == "accepted");
    CHECK(required.facts.needed.at("project") == std::vector<std::string>{"librmm.so"});
    CHECK(required.facts.needed_external == std::vector<std::string>{"libc.so.6", "librmm.so"});
    const auto unknown = checked(needing("numpy"));
    CHECK(unknown.outcome() == "quarantined");
    CHECK(unknown.facts.needed.at("unknown") == std::vector<std::string>{"librmm.so"});

    inspect::InspectOptions strict;
    strict.policy = *inspect::make_preset("manylinux-strict");
    const auto refused = checked(needing("librmm-cu12"), strict);
    REQUIRE(refused.refused());
    CHECK(refused.verdicts.front().code == "elf.needed_external");
    CHECK(refused.verdicts.front().found == "librmm.so of librmm-cu12");
}

TEST_CASE("facts list the libraries that other wheels can load") {
    WheelWriter wheel("six", "1.16.0");
    wheel.tag(linux_311)
        .add("six/lib/libsix.so.1.2", write_elf({.soname = "libsix.so.1"}))
        .add("six/lib/libplain.so", write_elf({}))
        .add("six/_six.so", write_elf({.soname = "_six.so"}))
        .add("six/libsix.abi3.so", write_elf({}))
        .add("six/libsix.cpython-311-x86_64-linux-gnu.so", write_elf({}))
        .add("six/libsix.cubin", write_elf({.machine = 190, .flags = 0x320550, .abi_version = 7}));
    CHECK(checked(pack(wheel)).facts.provides == std::vector<std::string>{"libplain.so", "libsix.so.1"});
}

TEST_CASE("facts have the SHA-256 of the wheel's libraries, and none where two files of a name differ") {
    const std::string own = write_elf({.soname = "libown-1a2b.so.3"});
    const std::string loaded = write_elf({.soname = "loaded.so"});
    WheelWriter wheel("six", "1.16.0");
    wheel.tag(linux_311)
        .add("six.libs/libown-1a2b.so.3", own)
        .add("six/a/libtwo.so", write_elf({}))
        .add("six/b/libtwo.so", write_elf({.needed = {"libm.so.6"}}))
        .add("six/private/renamed.so", loaded)
        .add("six/_six.so", write_elf({.soname = "_six.so", .needed = {"libown-1a2b.so.3", "loaded.so"}}));
    CHECK(checked(pack(wheel)).facts.library_sha256 ==
          std::map<std::string, std::string>{{"libown-1a2b.so.3", base::sha256_hex(own)},
                                             {"loaded.so", base::sha256_hex(loaded)}});
}
