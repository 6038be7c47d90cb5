// Excerpts as compilers, pip and the sites' documents print them.
#include "builder/first_error.hpp"

#include <doctest/doctest.h>

#include "builder/limits.hpp"
#include "tests/builder/fake_farm.hpp"

namespace wheelyard::builder {
namespace {

TEST_CASE("the first cause is found, not its echo") {
    struct Row {
        const char* log;
        const char* error;
    };
    const Row rows[] = {
        {"gcc -Werror -c a.c\na.c:3:5: warning: unused\na.c:9:1: error: expected ';'\nerror: command 'gcc' "
         "failed\n",
         "a.c:9:1: error: expected ';'"},
        {"  error: subprocess-exited-with-error\n  CMake Error at CMakeLists.txt:3 (find_package):\n",
         "CMake Error at CMakeLists.txt:3 (find_package):"},
        {"nvcc error   : 'cicc' died due to signal 9 (Kill signal)\nninja: build stopped: subcommand "
         "failed.\n",
         "nvcc error   : 'cicc' died due to signal 9 (Kill signal)"},
        {"c++: fatal error: Killed signal terminated program cc1plus\n",
         "c++: fatal error: Killed signal terminated program cc1plus"},
        {"Traceback (most recent call last):\nModuleNotFoundError: No module named 'numpy'\n",
         "ModuleNotFoundError: No module named 'numpy'"},
        {"ImportError: x.so: undefined symbol: _ZN3c105ErrorE\n",
         "ImportError: x.so: undefined symbol: _ZN3c105ErrorE"},
        {"/usr/bin/ld: cannot find -lmkl\ncollect2: error: ld returned 1\n",
         "/usr/bin/ld: cannot find -lmkl"},
        {"cp: error writing 'x': No space left on device\n",
         "cp: error writing 'x': No space left on device"},
        {"bash: line 3: module: command not found\n", "bash: line 3: module: command not found"},
        {"  | errors.ConfigurationError: Extra keys\n", "errors.ConfigurationError: Extra keys"},
        {"all fine\nBuild finished: 0 errors\n", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.log);
        CHECK(find_first_error(row.log, "") == row.error);
    }
}

TEST_CASE("only the failing phase counts, where it is marked") {
    const char* log =
        "@@wheelyard phase=build at=x\nold error: harmless\n@@wheelyard phase=smoke at=y\nImportError: no\n";
    CHECK(find_first_error(log, "smoke") == "ImportError: no");
    CHECK(find_first_error(log, "build") == "old error: harmless");
    CHECK(find_first_error(log, "") == "old error: harmless");
    CHECK(find_first_error(log, "venv") == "old error: harmless");
}

TEST_CASE("a long line is cut and control characters go") {
    const std::string found = find_first_error("error: \x1b[31m" + std::string(5000, 'x'), "");
    CHECK(found.size() <= longest_error_line + 3);
    CHECK(found.find('\x1b') == std::string::npos);
}

TEST_CASE("a long log is read to its end, wherever its pieces are cut") {
    const std::string noise(100, '.');
    std::string log;
    while (log.size() < 3 * base::mib)
        log += noise + "\n";
    log.append(longest_log_line * 3, 'x').append("error: after the cut of a line\n");
    log += "@@wheelyard phase=build at=x\n" + noise + "\nx.c:1: error: late\n";
    const base::TempDir folder = *base::TempDir::make("log");
    testing::write(folder.path() / "log", log);
    CHECK(find_first_error_in(folder.path() / "log", "build") == "x.c:1: error: late");
    CHECK(find_first_error_in(folder.path() / "none", "build") == "");
    for (const std::size_t step : {1U, 7U, 4096U}) {
        FirstError first("build");
        const std::string_view end = std::string_view(log).substr(log.size() - 3000);
        for (std::size_t at = 0; at < end.size(); at += step)
            first.feed(end.substr(at, step));
        CHECK(first.finish() == "x.c:1: error: late");
    }
}

}  // namespace
}  // namespace wheelyard::builder
