// The processor that a build's compiler options ask for, from the variables that hold them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace wheelyard::wire {

// What stands for no such option: the lowest processor of the machine.
inline constexpr std::string_view baseline_cpu = "baseline";

// "x86-64-v3" for -march=haswell or -mavx2; an option of another machine, or one that names no fixed
// processor, as it is: "-mcpu=neoverse-v2", "-march=native"; otherwise baseline_cpu. The highest of all
// variables that compilers and CMake read.
[[nodiscard]] std::string cpu_of_options(const std::vector<std::pair<std::string, std::string>>& environment);
// The same where code must not need more than a level: "-march=haswell" and "-mavx2" stay as they are, since
// the processor or the instruction is not the level itself.
[[nodiscard]] std::string level_of_options(
    const std::vector<std::pair<std::string, std::string>>& environment);

}  // namespace wheelyard::wire
