// The self-test before the first compile: which ways of calling a compiler pass through the launcher?
// Parallelism is raised only if all do that the build may use; otherwise -j stays the tool's own, and below
// what fits into memory.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wheelyard::governor {

// One way of calling a compiler, e.g. {"CC", "ccache /usr/bin/gcc"} or {"CUDA_HOME",
// "/usr/local/cuda/bin/nvcc"}.
struct Form {
    std::string name;
    std::string command;  // as a shell reads it
    bool intercepted = false;
};

// What the self-test found, and the -j that follows from it.
struct Coverage {
    std::vector<Form> forms;
    std::string reason;  // why nothing was tested, or empty
    bool capped = false;
    unsigned jobs = 0;  // the window, or the cap
    double peak_bytes = 0, limit_bytes = 0;
    bool peak_is_known = false;

    // Why -j is capped; for the user.
    [[nodiscard]] std::string text() const;
};

inline constexpr const char* by_path = "by path";

// The forms that the environment names, "by path", and where PATH has them "by name" and "ccache". `folder`
// gets a stand-in for a compiler.
[[nodiscard]] std::vector<Form> forms_of(const std::map<std::string, std::string>& environment,
                                         const std::string& folder);

// Calls each form through /bin/sh, as build tools do. A launcher answers; a compiler that is reached finds no
// source. Forms whose program does not exist are left out.
[[nodiscard]] std::vector<Form> probe(const std::vector<Form>& forms);
// The answer of a launcher in the self-test. Does not return.
[[noreturn]] void answer_probe();

// Says whether words such as "CC=/opt/x/xcc" name a compiler that is_compiler_name() does not know.
[[nodiscard]] bool names_unknown_compiler(const std::vector<std::string>& words);
// Says whether the loader puts libraries into `program`: false for a static ELF file.
[[nodiscard]] bool is_dynamic(const std::string& program);

// The largest -j, at most `wanted`, with which compiles of this peak fit; at least 1.
[[nodiscard]] unsigned jobs_that_fit(double limit_bytes, double peak_bytes, unsigned wanted);

}  // namespace wheelyard::governor
