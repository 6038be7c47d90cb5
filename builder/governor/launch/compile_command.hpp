// What a compiler's command line says: is it a compile or a link, of what, for which GPUs. Pure, but for
// response files ("@file"), which it reads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "builder/governor/admission/predict.hpp"

namespace wheelyard::governor {

struct CompileCommand {
    // Passed straight on, ungoverned: a question (--version, -print-…, -E to the screen), or input from
    // stdin, which could not be given again.
    bool direct = false;
    bool cached = false;          // stands behind ccache, sccache or their like
    std::size_t compiler_at = 0;  // index of the compiler in argv (after ccache and its like)
    std::string distributor;      // sends the compile to another machine; empty: it runs here
    Facts facts;                  // `compiler` is left empty: the broker asks for the version
};

// `argv` begins with the compiler or with a cache in front of it. `root` (the folder where the build was
// started) is taken off paths, so that history fits another checkout.
[[nodiscard]] CompileCommand parse_compile_command(const std::vector<std::string>& argv,
                                                   const std::string& root);

// What runs here of a compile that `distributor` sends elsewhere is a preprocessor, so it is a kind of its
// own; a link stays what it is.
void distribute(CompileCommand& command, const std::string& distributor);

// The program's name without its folder.
[[nodiscard]] inline std::string_view name_of(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}
// And the folder alone; of a name without one the name.
[[nodiscard]] inline std::string folder_of(const std::string& path) {
    return path.substr(0, path.rfind('/'));
}

// True for ccache and sccache, and for distcc and icecc, which may stand before a compiler.
[[nodiscard]] bool is_cache_name(std::string_view name);
[[nodiscard]] bool is_distributor_name(std::string_view name);
// True for names such as gcc-12, x86_64-linux-gnu-g++, nvcc, CC, ftn.
[[nodiscard]] bool is_compiler_name(std::string_view name);

// The words of a response file as GCC, Clang and nvcc read it: divided by white space, with quotes and
// backslashes.
[[nodiscard]] std::vector<std::string> split_response_file(std::string_view text);

}  // namespace wheelyard::governor
