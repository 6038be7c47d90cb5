// The self-test of the forms of calling a compiler, and the -j that follows from it.
#include "builder/governor/launch/coverage.hpp"

#include <doctest/doctest.h>

#include "builder/governor/launch/interposer.hpp"
#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"

using namespace wheelyard::governor;

TEST_CASE("the forms are those that the environment names, by name, by path and through ccache") {
    const auto folder = wheelyard::base::TempDir::make("forms");
    REQUIRE(folder);
    const std::string root = folder->path().string();
    for (const char* name : {"/gcc", "/ccache"})
        REQUIRE(wheelyard::base::replace_file(root + name, "#!/bin/sh\n", 0755));
    const auto forms = forms_of({{"PATH", root},
                                 {"CC", "ccache /usr/bin/gcc -m64"},
                                 {"CXX", " "},
                                 {"CUDA_HOME", "/opt/it's cuda"},
                                 {"ROCM_HOME", "/opt/rocm"}},
                                root);
    std::string text;
    for (const auto& form : forms)
        text += form.name + ": " + form.command + "\n";
    CHECK(text == "by name: gcc\nby path: '" + root + "/cc'\nccache: ccache '" + root +
                      "/cc'\nCC: ccache /usr/bin/gcc -m64\nCUDA_HOME: '/opt/it'\\''s cuda/bin/nvcc'\n"
                      "ROCM_HOME: '/opt/rocm/bin/hipcc'\n");
}

TEST_CASE("a program that nothing intercepts is reported, one that does not exist is left out") {
    const auto tested = probe({{"CC", "/bin/false"}, {"CXX", "/no/such/compiler"}, {"FC", "/bin/true -m64"}});
    REQUIRE(tested.size() == 2);
    CHECK(tested[0].name == "CC");
    CHECK(tested[1].name == "FC");
    CHECK_FALSE(tested[0].intercepted);
    CHECK_FALSE(tested[1].intercepted);
}

TEST_CASE("a compiler named for make is known by its name, also behind a cache") {
    for (const char* word :
         {"CC=gcc", "CC=/opt/x/gcc-12 -m64", "CC=ccache nvfortran", "CFLAGS=xcc", "all", "CC="}) {
        CAPTURE(word);
        CHECK_FALSE(names_unknown_compiler({"-k", word}));
    }
    for (const char* word : {"CC=xcc", "CXX=/opt/x/xcc -m64", "FC=ccache xfort", "CC=zig cc"}) {
        CAPTURE(word);
        CHECK(names_unknown_compiler({"-k", word}));
    }
}

TEST_CASE("the cap is the number of compiles that fit, at least one and at most what is wanted") {
    constexpr double gib = 1024.0 * 1024 * 1024;
    CHECK(jobs_that_fit(16 * gib, 2 * gib, 64) == 8);
    CHECK(jobs_that_fit(16 * gib, 2 * gib, 4) == 4);
    CHECK(jobs_that_fit(gib, 2 * gib, 64) == 1);
    CHECK(jobs_that_fit(1e30, 0, 64) == 64);
    CHECK(jobs_that_fit(0, 0, 0) == 1);
}

TEST_CASE("the reason for a cap names the limit, the peak and the forms") {
    Coverage coverage;
    coverage.jobs = 2;
    coverage.limit_bytes = 4e9;
    coverage.peak_bytes = 2e9;
    coverage.forms = {{"by path", "'/tmp/x/cc'", true}, {"CC", "zig cc", false}};
    CHECK(coverage.text() ==
          "-j stays the build tool's own, at most 2 (1.9 GiB each, as none is known, of 3.7 GiB): compilers "
          "called like "
          "this do not pass through the governor: CC (zig cc)");
    coverage.peak_is_known = true;
    coverage.reason = "noexec";
    CHECK(coverage.text() ==
          "-j stays the build tool's own, at most 2 (1.9 GiB, this build's largest known compile, of "
          "3.7 GiB): noexec");
}

TEST_CASE("a script and a dynamic program load libraries, a static one does not") {
    const auto folder = wheelyard::base::TempDir::make("dynamic");
    REQUIRE(folder);
    const std::string file = folder->path() / "program";
    REQUIRE(wheelyard::base::replace_file(file, "#!/bin/sh\n"));
    CHECK(is_dynamic(file));
    CHECK(is_dynamic("/bin/sh"));
    REQUIRE(wheelyard::base::replace_file(file, interposer_bytes()));  // an ELF file without an interpreter
    CHECK_FALSE(is_dynamic(file));
}

TEST_CASE("the library is written where it can be loaded, and a damaged file is replaced") {
    const auto folder = wheelyard::base::TempDir::make("interposer");
    REQUIRE(folder);
    const std::string good = folder->path() / "x";
    const auto path = install_interposer({"/proc/none", folder->path().string() + "/a b", good});
    REQUIRE(path);
    CHECK(path->starts_with(good + "/libwheelyard-exec-"));
    REQUIRE(wheelyard::base::replace_file(*path, "damaged"));
    CHECK(install_interposer({good}) == *path);
    CHECK(wheelyard::base::read_file(*path, 1 << 20) == interposer_bytes());
    CHECK_FALSE(install_interposer({"/proc/none"}));
}

TEST_CASE("other entries of LD_PRELOAD and ASAN_OPTIONS stay") {
    CHECK(without_library("/x/ours.so", "/x/ours.so").empty());
    CHECK(without_library("/x/ours.so:/x/a.so b.so", "/x/ours.so") == "/x/a.so:b.so");
    CHECK(without_library("/x/ours.so2", "/x/ours.so") == "/x/ours.so2");
    CHECK(without_asan_option("detect_leaks=0:verify_asan_link_order=0") == "detect_leaks=0");
    CHECK(without_asan_option("verify_asan_link_order=0").empty());
}
