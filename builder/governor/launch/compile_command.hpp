// Parses a compiler's command line: whether it compiles or links, which source, for which GPUs. Pure, except
// that it reads response files ("@file").
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "builder/governor/admission/predict.hpp"
#include "builder/governor/launch/compiler_names.hpp"
#include "builder/governor/memory/limits.hpp"

namespace wheelyard::governor {

inline constexpr std::size_t max_source_bytes = 4 * kib;

struct CompileCommand {
    // Run ungoverned: a query (--version, -print-…, -E to the terminal), or input from stdin, which a retry
    // could not read again.
    bool direct = false;
    bool cached = false;          // runs through ccache or sccache
    std::size_t compiler_at = 0;  // index of the compiler in argv, after caches and distributors
    std::string distributor;      // runs the compile on another machine; empty: it runs here
    CompileFacts facts;           // `compiler` stays empty; the broker fills it in
};

// `argv` begins with the compiler or with a cache or distributor in front of it. `root`, the folder where
// the build was started, is removed from paths, so that the history applies to other checkouts.
[[nodiscard]] CompileCommand parse_compile_command(const std::vector<std::string>& argv,
                                                   const std::string& root);

// Marks a compile as sent to another machine by `distributor`. Only a preprocessor runs here, so it gets
// its own language; a link is not sent.
void distribute(CompileCommand& command, const std::string& distributor);

// The path without the last component; of a name without a slash, the name.
[[nodiscard]] inline std::string folder_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

// The words of a response file as GCC, Clang and nvcc read it: separated by white space, with quotes and
// backslashes.
[[nodiscard]] std::vector<std::string> split_response_file(std::string_view text);

}  // namespace wheelyard::governor
