#include "lib/wire/cpu_options.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;

// x86-64 psABI, "Micro-Architecture Levels"; GCC 12's manual, "x86 Options" and "AArch64 Options".
TEST_CASE("the processor of a build is the highest that its options ask for") {
    struct Case {
        const char* name;
        const char* value;
        const char* cpu;
    };
    for (const auto& [name, value, cpu] : {
             Case{"CFLAGS", "-O3 -march=haswell -mtune=native", "x86-64-v3"},
             Case{"CXXFLAGS", "-march=x86-64-v4", "x86-64-v4"},
             Case{"CFLAGS", "-march=znver3 -march=x86-64", "x86-64-v3"},
             Case{"CFLAGS", "-march=sandybridge", "x86-64-v2"},
             Case{"CFLAGS", "-mavx2", "x86-64-v3"},
             Case{"CFLAGS", "-mavx512f", "x86-64-v4"},
             Case{"CFLAGS", "-march=native", "-march=native"},
             Case{"CFLAGS", "-mcpu=neoverse-v2", "-mcpu=neoverse-v2"},
             Case{"CFLAGS", "-march=armv8.2-a+sve", "-march=armv8.2-a+sve"},
             Case{"CFLAGS", "-march=armv8-a", "baseline"},
             Case{"CMAKE_ARGS", "-DCMAKE_CXX_FLAGS=-march=skylake-avx512 -DX=1", "x86-64-v4"},
             Case{"CMAKE_ARGS", "-DCMAKE_C_FLAGS='-O2 -march=core-avx2'", "x86-64-v3"},
             Case{"CFLAGS", "-O2 -mtune=haswell -I/x/-march=haswell", "baseline"},
             Case{"LDFLAGS", "-march=haswell", "baseline"},
             Case{"CFLAGS", "", "baseline"},
         }) {
        CAPTURE(value);
        CHECK(wire::cpu_of_options({{name, value}}) == cpu);
    }
    CHECK(wire::cpu_of_options({{"CFLAGS", "-march=x86-64-v2"}, {"CXXFLAGS", "-march=x86-64-v3"}}) ==
          "x86-64-v3");
    CHECK(wire::cpu_of_options({}) == "baseline");
}

// sapphirerapids has AMX, haswell AES, and avx512fp16 is in no level.
TEST_CASE("only the levels' own names are levels: processors and single instructions may be more") {
    struct Case {
        const char* value;
        const char* level;
    };
    for (const auto& [value, level] :
         {Case{"-O2 -march=x86-64-v3", "x86-64-v3"}, Case{"-march=x86-64", "baseline"},
          Case{"-march=sapphirerapids", "-march=sapphirerapids"}, Case{"-march=haswell", "-march=haswell"},
          Case{"-mavx512fp16 -march=x86-64-v3", "-mavx512fp16"}, Case{"-march=native", "-march=native"},
          Case{"-mcpu=neoverse-v2", "-mcpu=neoverse-v2"}, Case{"-march=armv8-a", "baseline"}}) {
        CAPTURE(value);
        CHECK(wire::level_of_options({{"CFLAGS", value}}) == level);
    }
}

TEST_CASE("what one variable asks for is not lost by another, nor in a compiler's name or rustc's flags") {
    using Environment = std::vector<std::pair<std::string, std::string>>;
    CHECK(wire::level_of_options(Environment{{"CFLAGS", "-mcpu=neoverse-v2"},
                                             {"FFLAGS", "-march=armv8-a"}}) == "-mcpu=neoverse-v2");
    CHECK(wire::cpu_of_options(Environment{{"CFLAGS", "-mcpu=neoverse-v2"}, {"FFLAGS", "-march=armv8-a"}}) ==
          "-mcpu=neoverse-v2");
    // No level has AES.
    CHECK(wire::level_of_options(Environment{{"CFLAGS", "-march=x86-64-v2 -maes"}}) == "-maes");
    CHECK(wire::level_of_options(
              Environment{{"CFLAGS", "-march=x86-64-v2 -m64 -mtune=native -mno-avx512f"}}) == "x86-64-v2");
    CHECK(wire::level_of_options(Environment{{"CXX", "g++ -march=native"}}) == "-march=native");
    CHECK(wire::level_of_options(Environment{{"RUSTFLAGS", "-C target-cpu=native"}}) == "-march=native");
    CHECK(wire::level_of_options(Environment{{"RUSTFLAGS", "-C target-cpu=x86-64-v3"}}) == "x86-64-v3");
    CHECK(wire::level_of_options(Environment{{"RUSTFLAGS", "-C target-feature=+avx2"}}) == "target-feature=");
}
