// A C++ program on the torch that is installed: its own CMake files say how (torch.utils.cmake_prefix_path),
// among it which std::string it was built with.
#include "builder/users/user_files_parts.hpp"

namespace wheelyard::builder::user_files {
namespace {

constexpr std::string_view cmake_lists =
    R"cmake(# A C++ program on {{module}}. Made by `wheelyard-builder site user-files`.
cmake_minimum_required(VERSION 3.18)
project(libtorch_example LANGUAGES CXX)

find_package(Torch REQUIRED)
add_executable(example example.cpp)
target_link_libraries(example PRIVATE ${TORCH_LIBRARIES})
set_target_properties(example PROPERTIES CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
# Libraries that a wheel brought along find each other by the search path of who loads them, which the linker does not know.
target_link_options(example PRIVATE LINKER:--allow-shlib-undefined)
# Torch's flags hold for the compiler's std::string too.
string(APPEND CMAKE_CXX_FLAGS " ${TORCH_CXX_FLAGS}")
)cmake";

constexpr std::string_view example =
    "// Multiplies two matrices, on a GPU where there is one. Made by `wheelyard-builder site user-files`.\n"
    "#include <torch/torch.h>\n\n"
    "#include <iostream>\n\n"
    R"text(int main() {
    const auto device = torch::cuda::is_available() ? torch::kCUDA : torch::kCPU;
    const auto one = torch::ones({64, 64}, device);
    const auto sum = torch::matmul(one, one).sum().item<double>();
    std::cout << "sum " << sum << "\n";
    return sum == 64.0 * 64.0 * 64.0 ? 0 : 1;
}
)text";

constexpr std::string_view build = R"sh(#!/bin/bash
# libtorch/build FOLDER: compiles the example into FOLDER and runs it. Made by `wheelyard-builder site user-files`.
folder=${1:?"usage: libtorch/build FOLDER"}
)sh";

constexpr std::string_view build_end = R"sh(set -eu
prefix=$({{root}}/bin/python -c 'import torch; print(torch.utils.cmake_prefix_path)')
cmake -S {{place}}/libtorch -B "$folder" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_BUILD_TYPE=Release
cmake --build "$folder"
"$folder/example"
)sh";

}  // namespace

std::string render_cmake_lists(const Words& words) {
    return fill(cmake_lists, words);
}

std::string render_example(const Words& /*words*/) {
    return std::string(example);
}

std::string render_build(const Words& words) {
    return fill(build, words) + render_enter(words) + fill(build_end, words);
}

}  // namespace wheelyard::builder::user_files
