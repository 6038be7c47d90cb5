// Words of compilers, linkers and their wrappers about a child that was killed for memory.
#include "builder/governor/launch/compiler_process.hpp"

#include <doctest/doctest.h>
#include <signal.h>

using namespace wheelyard::governor;

namespace {

constexpr int exited(int code) {
    return code << 8;
}

}  // namespace

TEST_CASE(
    "what tools print about a killed child, or about memory that they do not get, indicates a lack of "
    "memory") {
    for (const char* text : {
             "gcc: fatal error: Killed signal terminated program cc1\ncompilation terminated.\n",
             "collect2: fatal error: ld terminated with signal 9 [Killed]\ncompilation terminated.\n",
             "collect2: fatal error: ld terminated with signal 9 [Unicestwiony]\n",
             "lto-wrapper: fatal error: /usr/bin/g++ terminated with signal 9 [Killed]\n",
             "nvcc error   : 'cudafe++' died due to signal 9 (Kill signal)\n",
             "nvc++-Fatal-/opt/nvidia/tools/cpp2 TERMINATED by signal 9\n",
             "clang: error: unable to execute command: Killed\nclang: error: linker command failed due to "
             "signal\n",
             "/usr/bin/ld.bfd: final link failed: memory exhausted\n",
             "LLVM ERROR: out of memory\nAllocation failed\n",
             "cc1plus: out of memory allocating 65536 bytes after a total of 13631488 bytes\n",
             "fatal error: cannot map a.so: Cannot allocate memory\n",
             "terminate called after throwing an instance of 'std::bad_alloc'\n",
             "collect2: error: ld returned 137 exit status\n",
         }) {
        CAPTURE(text);
        CHECK(looks_killed_by_memory(exited(1), text));
        CHECK_FALSE(looks_killed_by_memory(exited(0), text));
    }
    CHECK(looks_killed_by_memory(SIGKILL, ""));
    CHECK(looks_killed_by_memory(exited(137), ""));
}

TEST_CASE("an error of the source, and another signal, indicate none") {
    for (const char* text :
         {"a.c:1:5: error: expected ';' before '}' token\n", "collect2: error: ld returned 1 exit status\n",
          "collect2: fatal error: ld terminated with signal 11 [Segmentation fault]\n", ""}) {
        CAPTURE(text);
        CHECK_FALSE(looks_killed_by_memory(exited(1), text));
    }
    CHECK_FALSE(looks_killed_by_memory(SIGSEGV, ""));
}
