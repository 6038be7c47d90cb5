// Which programs are compilers, by name or by the shape of their command line. Header only and without
// allocation: the interposer, which links nothing, asks it between fork and exec.
#pragma once

#include <string_view>

namespace wheelyard::governor {

inline constexpr std::string_view caches[] = {"ccache", "sccache"};
inline constexpr std::string_view distributors[] = {"distcc", "icecc"};

// Drivers by family. With a version after the name or a target before it they are the same.
inline constexpr std::string_view compilers[] = {
    "cc",       "c++",        "c89",      "c99",       "f77",       "f90",         "f95",  // POSIX
    "gcc",      "g++",        "gfortran",                                                  // GCC
    "clang",    "clang++",    "flang",    "flang-new",                                     // LLVM
    "amdclang", "amdclang++", "amdflang", "hipcc",                                         // AMD
    "nvcc",     "nvc",        "nvc++",    "nvfortran", "pgcc",      "pgc++",       "pgfortran",
    "pgf90",                                                                                  // NVIDIA
    "CC",       "ftn",        "craycc",   "crayCC",    "craycxx",   "crayftn",                // Cray
    "icx",      "icpx",       "ifx",      "icc",       "icpc",      "ifort",       "dpcpp",   // Intel
    "armclang", "armclang++", "armflang",                                                     // Arm
    "fcc",      "FCC",        "frt",      "fccpx",     "FCCpx",     "frtpx",                  // Fujitsu
    "xlc",      "xlC",        "xlc++",    "xlf",       "ibm-clang", "ibm-clang++",            // IBM
    "mpicc",    "mpicxx",     "mpic++",   "mpiCC",     "mpifort",   "mpif77",      "mpif90",  // MPI
    "mpiicc",   "mpiicpc",    "mpiicx",   "mpiicpx",   "mpiifort",  "mpiifx",      "mpifcc",
    "mpiFCC",   "mpifrt"};

// What a compiler reads, by the end of its name.
inline constexpr std::string_view source_ends[] = {".c",   ".cc",  ".cpp", ".cxx", ".C",   ".c++", ".i",
                                                   ".ii",  ".cu",  ".hip", ".f",   ".F",   ".f90", ".F90",
                                                   ".f95", ".f03", ".f08", ".for", ".FOR", ".m",   ".mm"};
inline constexpr std::string_view object_ends[] = {".o", ".obj", ".lo", ".os"};

// The file name of a program.
[[nodiscard]] constexpr std::string_view name_of(std::string_view path) {
    if (const auto slash = path.rfind('/'); slash != std::string_view::npos) path.remove_prefix(slash + 1);
    return path;
}

// As the members of string_view, some of which refer to an exception of the C++ library.
[[nodiscard]] constexpr bool begins_in(std::string_view text, std::string_view start) {
    return text.size() >= start.size() && std::string_view(text.data(), start.size()) == start;
}
[[nodiscard]] constexpr bool ends_in(std::string_view text, std::string_view end) {
    return text.size() >= end.size() &&
           std::string_view(text.data() + (text.size() - end.size()), end.size()) == end;
}
template <typename Table>
[[nodiscard]] constexpr bool ends_in_one_of(std::string_view text, const Table& table) {
    for (const std::string_view end : table) {
        if (ends_in(text, end)) return true;
    }
    return false;
}

template <typename Table>
[[nodiscard]] constexpr bool contains_word(const Table& table, std::string_view word) {
    for (const std::string_view each : table) {
        if (each == word) return true;
    }
    return false;
}

[[nodiscard]] constexpr bool is_cache_name(std::string_view name) {
    return contains_word(caches, name);
}
[[nodiscard]] constexpr bool is_distributor_name(std::string_view name) {
    return contains_word(distributors, name);
}

// Names such as gcc-12, gcc12, x86_64-linux-gnu-g++, nvcc, CC, ftn.
[[nodiscard]] constexpr bool is_compiler_name(std::string_view name) {
    if (contains_word(compilers, name)) return true;
    // A version after the name: gcc-12, clang++-14.0, gcc12.
    std::string_view plain = name;
    while (!plain.empty() && ((plain.back() >= '0' && plain.back() <= '9') || plain.back() == '.'))
        plain.remove_suffix(1);
    if (plain.size() < name.size()) {
        if (!plain.empty() && plain.back() == '-') {
            plain.remove_suffix(1);
        } else if (plain == "cc") {
            return false;  // cc1 is GCC's front end
        }
        if (!plain.empty() && is_compiler_name(plain)) return true;
    }
    // A triplet before the name: x86_64-linux-gnu-gcc, x86_64-conda-linux-gnu-c++.
    const auto dash = name.rfind('-');
    if (dash == std::string_view::npos) return false;
    const std::string_view target(name.data(), dash), last(name.data() + dash + 1, name.size() - dash - 1);
    return target.find('-') != std::string_view::npos && contains_word(compilers, last);
}

// Says whether a command line is one compile of a driver that the table does not name: `xcc … -c x.c … -o
// x.o`. Not if a word names a compiler or a cache: then it is a wrapper (env, libtool, time), and what it
// runs is seen. `word(i)` is the i-th of `count` words; the first is the program.
template <typename Word>
[[nodiscard]] constexpr bool looks_like_compile(std::size_t count, Word word) {
    bool compiles = false, has_source = false, has_object = false;
    for (std::size_t i = 1; i < count; ++i) {
        const std::string_view each = word(i), before = word(i - 1);
        if (each == "-c") {
            compiles = true;
        } else if (before == "-o") {
            has_object = has_object || ends_in_one_of(each, object_ends);
        } else if (!begins_in(each, "-") && before != "-ccbin" && before != "--compiler-bindir") {
            const auto name = name_of(each);
            if (is_compiler_name(name) || is_cache_name(name) || is_distributor_name(name)) return false;
            has_source = has_source || ends_in_one_of(each, source_ends);
        }
    }
    return compiles && has_source && has_object;
}

}  // namespace wheelyard::governor
