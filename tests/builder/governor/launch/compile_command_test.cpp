// Parsing of compiler command lines.
#include "builder/governor/launch/compile_command.hpp"

#include <doctest/doctest.h>

#include "lib/base/files/file.hpp"
#include "lib/base/files/temp_dir.hpp"
#include "lib/base/text/text.hpp"

using namespace wheelyard::governor;

namespace {

CompileCommand parse(std::string_view line, const std::string& root = "/r") {
    std::vector<std::string> argv;
    for (const auto word : wheelyard::base::split(line, ' '))
        argv.emplace_back(word);
    return parse_compile_command(argv, root);
}

}  // namespace

TEST_CASE("compiles and links are recognised with their source and language") {
    struct Row {
        const char *line, *source, *language;
    };
    for (const auto& [line, source, language] : {
             Row{"gcc -c a.c -o a.o", "a.c", "c"},
             Row{"g++ -O2 -I x -c /r/src/a.cpp -o /r/b/a.o -MF a.d -MD", "src/a.cpp", "c++"},
             Row{"g++ -D X=1 -c ../a.cc", "a.cc", "c++"},
             Row{"/usr/bin/ccache g++ -c a.cpp", "a.cpp", "c++"},
             Row{"nvcc -c k.cu -o k.o", "k.cu", "cuda"},
             Row{"nvcc -x cu -c k.cpp -o k.o", "k.cpp", "cuda"},
             Row{"nvcc -c host.cpp -o k.o", "host.cpp", "cuda"},
             Row{"hipcc -c k.cpp", "k.cpp", "hip"},
             Row{"clang++ -x hip -c k.cpp", "k.cpp", "hip"},
             Row{"ftn -c m.F90", "m.F90", "fortran"},
             Row{"g++ -S a.cpp -o a.s", "a.cpp", "c++"},
             Row{"g++ a.cpp -o a", "a.cpp", "c++"},
             Row{"g++ -shared a.o b.o -L lib -l m -o /r/lib/x.so", "lib/x.so", "link"},
             Row{"g++ a.o", "a.o", "link"},
         }) {
        CAPTURE(line);
        const auto command = parse(line);
        CHECK_FALSE(command.direct);
        CHECK(command.facts.source == source);
        CHECK(command.facts.language == language);
    }
}

TEST_CASE("queries and input from stdin run ungoverned") {
    for (const char* line :
         {"ccache -s", "ccache --max-size 5G", "sccache --start-server", "gcc", "gcc --version", "gcc -v",
          "gcc -print-search-dirs", "gcc -dumpmachine", "gcc -E a.c", "gcc -M a.c", "gcc -c -x c -",
          "gcc -### -c a.c", "nvcc --dryrun -c a.cu", "ccache gcc --version", "g++ -fsyntax-only a.cpp"}) {
        CAPTURE(line);
        CHECK(parse(line).direct);
    }
}

TEST_CASE("the hash of the arguments depends only on those that affect memory") {
    const auto hash = [](const char* line) { return parse(line).facts.arguments; };
    const auto plain = hash("g++ -O2 -c a.cpp -o a.o");
    for (const char* same : {"g++ -O2 -c a.cpp -o b.o", "g++ -O2 -Wall -c a.cpp", "g++ -O2 -I/x -c a.cpp",
                             "g++ -O2 -MD -MF d -c a.cpp", "g++ -O2 -DVERSION=2 -c a.cpp"}) {
        CAPTURE(same);
        CHECK(hash(same) == plain);
    }
    for (const char* other : {"g++ -O3 -c a.cpp", "g++ -O2 -g -c a.cpp", "g++ -O2 -std=c++20 -c a.cpp",
                              "g++ -O2 -fPIC -c a.cpp", "g++ -O2 -march=native -c a.cpp"}) {
        CAPTURE(other);
        CHECK(hash(other) != plain);
    }
}

TEST_CASE("GPU architectures and threads are facts of their own") {
    const auto command = parse(
        "nvcc -gencode arch=compute_80,code=sm_80 --generate-code=arch=compute_90,code=sm_90 --threads 4 -c "
        "k.cu");
    CHECK(command.facts.architectures == "arch=compute_80,code=sm_80 arch=compute_90,code=sm_90");
    CHECK(command.facts.threads == 4);
    CHECK(parse("hipcc --offload-arch=gfx90a -c k.hip").facts.architectures == "gfx90a");
}

TEST_CASE("response files are read, including quoted words") {
    const auto folder = wheelyard::base::TempDir::make("response");
    REQUIRE(folder);
    const auto inner = folder->path() / "inner.rsp", outer = folder->path() / "outer.rsp";
    REQUIRE(wheelyard::base::replace_file(inner, "-c \"a b.cpp\" -O2\n"));
    REQUIRE(wheelyard::base::replace_file(outer, "@" + inner.string() + " -o 'x y.o'"));
    const auto command = parse_compile_command({"g++", "@" + outer.string()}, "");
    CHECK(command.facts.source == "a b.cpp");
    CHECK_FALSE(command.direct);
    // A file that includes itself does not recurse forever.
    REQUIRE(wheelyard::base::replace_file(inner, "@" + inner.string() + " -c a.cpp"));
    CHECK(parse_compile_command({"g++", "@" + inner.string()}, "").facts.source == "a.cpp");
}

TEST_CASE("the compiler behind a cache is found") {
    const auto command = parse("ccache /usr/bin/g++ -c a.cpp");
    CHECK(command.cached);
    CHECK(command.compiler_at == 1);
    CHECK_FALSE(parse("g++ -c a.cpp").cached);
}

TEST_CASE("a distributed compile has its own language and names its distributor; its link is a normal link") {
    struct Row {
        const char *text, *distributor;
        bool cached;
    };
    for (const auto& [text, distributor, cached] :
         {Row{"distcc g++ -c a.cpp", "distcc", false},
          Row{"/usr/bin/icecc g++ -c a.cpp", "/usr/bin/icecc", false},
          Row{"ccache distcc g++ -c a.cpp", "distcc", true}}) {
        CAPTURE(text);
        const auto command = parse(text);
        CHECK(command.distributor == distributor);
        CHECK(command.facts.language == "distributed");
        CHECK(command.facts.source == "a.cpp");
        CHECK(command.cached == cached);
    }
    for (const char* text : {"distcc g++ a.o -o a", "g++ -c a.cpp", "ccache g++ -c a.cpp"}) {
        CAPTURE(text);
        CHECK(parse(text).distributor.empty());
        CHECK(parse(text).facts.language != "distributed");
    }
    CHECK(parse("distcc --show-hosts").direct);
}

TEST_CASE("compiler names may have triplets and versions; similar names are rejected") {
    for (const char* name : {"cc",
                             "c++",
                             "gcc",
                             "g++-12",
                             "clang++-14",
                             "x86_64-linux-gnu-gcc",
                             "x86_64-linux-gnu-g++-12",
                             "x86_64-conda-linux-gnu-c++",
                             "nvcc",
                             "hipcc",
                             "CC",
                             "ftn",
                             "gfortran",
                             "amdclang++",
                             "gcc12",
                             "c99",
                             "nvfortran",
                             "pgcc",
                             "pgfortran",
                             "armclang",
                             "armflang",
                             "mpiicx",
                             "mpiifx",
                             "mpifort",
                             "crayCC",
                             "crayftn",
                             "icpx",
                             "ifort",
                             "flang-new-19"}) {
        CAPTURE(name);
        CHECK(is_compiler_name(name));
    }
    for (const char* name :
         {"gcc-ar", "gcc-nm-12", "ccache", "make", "g++-", "-12", "", "clang-format-14", "clang-tidy",
          "distcc", "c89-gcc", "cc1", "cc1plus", "mpirun", "mpiexec", "as", "amdgpu-arch", "nvcc_wrapper"}) {
        CAPTURE(name);
        CHECK_FALSE(is_compiler_name(name));
    }
}

TEST_CASE("a driver that no table names is recognised by its command line, a wrapper of a known one is not") {
    const auto is_compile = [](std::string_view line) {
        const auto words = wheelyard::base::split(line, ' ');
        return looks_like_compile(words.size(), [&](std::size_t i) { return words[i]; });
    };
    for (const char* line :
         {"xcc -c a.c -o a.o", "/opt/x/xcc -O2 -o b/a.o -c /r/a.cpp", "xcc -fPIC -c a.f90 -o a.lo",
          "python3 wrapper.py -c k.cu -o k.o", "zig c -c a.cc -o a.os"}) {
        CAPTURE(line);
        CHECK(is_compile(line));
    }
    for (const char* line : {"xcc a.o -o a", "xcc -c a.c", "xcc -E a.c -o a.i", "install -c -o root a.c /usr",
                             "tar -c -f a.tar a.c", "sh -c a.c", "wc -c a.c", "env A=1 gcc -c a.c -o a.o",
                             "libtool --mode=compile /usr/bin/g++-12 -c a.cc -o a.lo",
                             "time ccache xcc -c a.c -o a.o", "rustc -o a.o a.rs", ""}) {
        CAPTURE(line);
        CHECK_FALSE(is_compile(line));
    }
    CHECK(is_compile("xnv -ccbin g++ -c k.cu -o k.o"));
}

TEST_CASE("what an MPI wrapper says about itself is a query") {  // Open MPI and MPICH
    for (const char* line : {"mpicc -showme a.c", "mpicc --showme:compile a.c", "mpicc -show a.c",
                             "mpicc -compile_info a.c", "mpifort -link_info a.o"}) {
        CAPTURE(line);
        CHECK(parse(line).direct);
    }
    CHECK_FALSE(parse("mpicc -cc=clang -c a.c").direct);
}
