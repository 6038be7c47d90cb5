// manylinux policies: the C++ runtime and libraries of each, and the oldest one that fits.
#include "lib/inspect/truth/manylinux.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using inspect::VersionFloors;

TEST_CASE("symbol versions are parsed; other names are not") {
    const auto version = inspect::parse_symbol_version("GLIBCXX_3.4.21");
    REQUIRE(version);
    CHECK(version->prefix == "GLIBCXX");
    CHECK(inspect::dotted(version->numbers) == "3.4.21");
    const auto packed_relocations = inspect::parse_symbol_version("GLIBC_ABI_DT_RELR");
    REQUIRE(packed_relocations);
    CHECK(packed_relocations->prefix == "GLIBC");
    CHECK(inspect::dotted(packed_relocations->numbers) == "2.36");
    for (const std::string_view text : {"GLIBC_PRIVATE", "GLIBC_ABI_DT", "GLIBC", "GLIBC_", "GLIBC_2..1"})
        CHECK_FALSE(inspect::parse_symbol_version(text));
}

TEST_CASE("a policy's newest versions depend on its glibc and machine") {
    struct Row {
        int glibc_minor;
        std::string_view machine, glibcxx, cxxabi, gcc;
    };
    for (const Row& row : {
             Row{5, "x86_64", "3.4.8", "1.3.1", "4.2.0"}, Row{12, "x86_64", "3.4.13", "1.3.3", "4.3.0"},
             Row{12, "i686", "3.4.13", "1.3.3", "4.5.0"}, Row{17, "x86_64", "3.4.19", "1.3.7", "4.8.0"},
             Row{17, "aarch64", "3.4.19", "1.3.7", "4.7.0"}, Row{24, "s390x", "3.4.22", "1.3.10", "4.7.0"},
             Row{26, "x86_64", "3.4.22", "1.3.10", "4.8.0"}, Row{27, "x86_64", "3.4.24", "1.3.11", "7.0.0"},
             Row{28, "aarch64", "3.4.24", "1.3.11", "7.0.0"}, Row{31, "x86_64", "3.4.28", "1.3.12", "7.0.0"},
             Row{34, "aarch64", "3.4.29", "1.3.13", "11.0"}, Row{35, "x86_64", "3.4.30", "1.3.13", "12.0.0"},
             Row{39, "x86_64", "3.4.33", "1.3.15", "14.0.0"},
             Row{29, "x86_64", "3.4.28", "1.3.12", "7.0.0"},  // no policy of its own: the next one applies
         }) {
        CAPTURE(row.glibc_minor);
        CAPTURE(row.machine);
        auto limits = inspect::manylinux_limits(row.glibc_minor, row.machine);
        REQUIRE(limits);
        CHECK(inspect::dotted((*limits)["GLIBCXX"]) == row.glibcxx);
        CHECK(inspect::dotted((*limits)["CXXABI"]) == row.cxxabi);
        CHECK(inspect::dotted((*limits)["GCC"]) == row.gcc);
    }
    CHECK_FALSE(inspect::manylinux_limits(99, "x86_64"));
}

TEST_CASE("later policies allow more libraries") {
    CHECK(inspect::is_policy_library("libz.so.1", 5));
    CHECK_FALSE(inspect::is_policy_library("libexpat.so.1", 5));
    CHECK(inspect::is_policy_library("libexpat.so.1", 12));
    CHECK_FALSE(inspect::is_policy_library("libmvec.so.1", 17));
    CHECK(inspect::is_policy_library("libmvec.so.1", 24));
    CHECK(inspect::is_policy_library("ld-linux-x86-64.so.2", 5));
    CHECK_FALSE(inspect::is_policy_library("libgomp.so.1"));
    CHECK(inspect::is_musllinux_library("libc.musl-x86_64.so.1"));
    CHECK_FALSE(inspect::is_musllinux_library("libstdc++.so.6"));
}

TEST_CASE("the oldest fitting tag is the one that auditwheel chooses") {
    struct Row {
        VersionFloors floors;
        std::vector<std::string> libraries;
        std::string machine, tag;
    };
    for (const Row& row : {
             Row{{}, {}, "x86_64", "manylinux_2_5_x86_64"},
             Row{{}, {}, "aarch64", "manylinux_2_17_aarch64"},
             Row{{}, {}, "riscv64", "manylinux_2_31_riscv64"},
             Row{{{"GLIBC", {2, 5}}}, {"libc.so.6"}, "x86_64", "manylinux_2_5_x86_64"},
             Row{{{"GLIBC", {2, 14}}}, {}, "x86_64", "manylinux_2_17_x86_64"},
             Row{{{"GLIBC", {2, 28}}}, {}, "aarch64", "manylinux_2_28_aarch64"},
             Row{{{"GLIBC", {2, 29}}}, {}, "x86_64", "manylinux_2_31_x86_64"},
             Row{{{"GLIBC", {2, 17}}, {"GLIBCXX", {3, 4, 21}}}, {}, "x86_64", "manylinux_2_24_x86_64"},
             Row{{{"GLIBC", {2, 5}}, {"CXXABI", {1, 3, 11}}}, {}, "x86_64", "manylinux_2_27_x86_64"},
             Row{{{"ZLIB", {1, 2, 9}}}, {"libz.so.1"}, "x86_64", "manylinux_2_27_x86_64"},
             Row{{}, {"libmvec.so.1"}, "x86_64", "manylinux_2_24_x86_64"},
             Row{{}, {"libcudart.so.12"}, "x86_64", "linux_x86_64"},
             Row{{{"GLIBC", {2, 99}}}, {}, "x86_64", "linux_x86_64"},
             Row{{}, {}, "vax", "linux_vax"},
         }) {
        CAPTURE(row.tag);
        CHECK(inspect::min_manylinux(row.floors, row.libraries, row.machine) == row.tag);
    }
}
