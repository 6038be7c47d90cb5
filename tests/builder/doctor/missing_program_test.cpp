// The notations in which tools say that a program is not there, and lines that only look like one.
#include "builder/doctor/error_line.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

TEST_CASE("the name of a missing program is found in each tool's notation") {
    struct Row {
        const char* line;
        const char* program;
    };
    const Row rows[] = {
        {"bash: line 3: cmake: command not found", "cmake"},
        {"/bin/sh: 1: cmake: not found", "cmake"},
        {"sh: cmake: not found", "cmake"},
        {"cmake: command not found", "cmake"},
        {"zsh: command not found: cmake", "cmake"},
        {"./configure: line 12: gtkdocize: command not found", "gtkdocize"},
        {"binutils/missing: 81: binutils/missing: flex: not found", "flex"},
        {"make[1]: swig: no such file or directory", "swig"},
        {"/bin/sh: /opt/cuda/bin/nvcc: no such file or directory", "nvcc"},
        {"env: \u2018cargo\u2019: no such file or directory", "cargo"},
        {"error: command 'swig' failed: no such file or directory", "swig"},
        {"error: command '/k/shims/x86_64-linux-gnu-gcc' failed with exit code 127", "x86_64-linux-gnu-gcc"},
        {"wheelyard-governor: g++: command not found", "g++"},
        {"unable to execute '/usr/bin/gcc-12': no such file or directory", "gcc-12"},
        {"filenotfounderror: [errno 2] no such file or directory: 'cmake'", "cmake"},
        {"error: linker `cc` not found", "cc"},
        {"is `cmake` not installed?", "cmake"},
        {"error: could not execute process `rustc -vv` (never executed)", "rustc"},
        {"meson.build:5:0: error: program 'swig' not found or not executable", "swig"},
        {"exec: \"go\": executable file not found in $path", "go"},
        {"filenotfounderror: [errno 2] no such file or directory: 'requirements.txt'", ""},
        {"a.c:1:10: fatal error: mpi.h: no such file or directory", ""},
        {"cp: cannot stat 'a': no such file or directory", ""},
        {"ld: cannot find -lmkl: no such file or directory", ""},
        {"libx.so: cannot open shared object file: no such file or directory", ""},
        {"checking for nvcc... not found", ""},
        {"error: dependency \"foo\" not found", ""},
        {"the requested url returned error: 404 not found", ""},
        {"", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.line);
        CHECK(missing_program(row.line) == row.program);
    }
}

}  // namespace
}  // namespace wheelyard::builder
