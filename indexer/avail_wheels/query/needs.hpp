// A wheel's requirements on a node: from the proven facts of its index, otherwise from its file name.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "indexer/avail_wheels/node/node.hpp"
#include "indexer/avail_wheels/query/candidate.hpp"
#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/wheel/variant.hpp"

namespace wheelyard::avail_wheels {

// What a wheel has for one kind of accelerator.
struct GpuNeeds {
    const accelerator::AcceleratorKind* kind = nullptr;
    // Its device code, one list for each of kind->device_code: {"sm_90"}, {"compute_90"}.
    std::vector<std::vector<std::string>> code;
    std::string toolkit;  // it was built with: "12.6", or "12" if only that is known; empty: unknown

    [[nodiscard]] bool has_code() const;
};

// A library that the wheel's files name and the wheel does not contain.
struct NeededLibrary {
    std::string name;  // "libgsl.so.27"
    std::string kind;  // as `needed` of the facts has it: "system", "cuda", "mpi", "unknown"
};

struct Needs {
    bool proven = false;                // facts were available
    std::vector<std::string> machines;  // empty: any
    std::optional<Dotted> glibc;
    std::string cpu;  // "x86-64-v3"; empty: unknown or none
    // What of its import was compiled for AVX, or AVX-512, as a whole, or has SVE code that nothing chooses;
    // empty: nothing is known to.
    std::string avx_code, avx512_code, sve_code;
    std::string executable_stack;  // what its import may load that asks for one
    // C functions of PyPy that its import needs, and those that other parts do, by module.
    std::map<std::string, std::vector<std::string>, std::less<>> pypy_names, pypy_later;
    std::vector<GpuNeeds> gpus;    // the kinds of accelerators that it is for, in the order of their table
    std::vector<std::string> mpi;  // libraries: "libmpi.so.40"
    std::vector<std::string> modules;      // modules it was built against: "cudacore/12.2.2"
    std::vector<NeededLibrary> libraries;  // without those of the C library
    // Of these, what the import does not need, and what it may need, with what does: {"libX11.so.6",
    // "rdkit.Chem.Draw"}.
    std::map<std::string, std::string, std::less<>> later, maybe;
    std::map<std::string, std::string, std::less<>>
        surely;  // the same of no known kind, that it needs for certain
    // Modules that its import needs for certain and may lack, with the one that imports them: {"cgi", "a.b"}.
    std::vector<std::pair<std::string, std::string>> imports;
    std::vector<std::string> search_paths;  // folders outside of it that its files search first
    // Versions of GCC's libraries and zlib: {"GLIBCXX", 3.4.32}.
    std::vector<std::pair<std::string, Dotted>> versions;
    std::optional<Dotted>
        manylinux_glibc;  // that the manylinux tag asks for which its bytes fit; absent: none does
    std::optional<std::vector<std::string>> requires_dist;  // absent: unknown
    // The torches that it can be loaded with, by the names that the wheel imports: {"2.4", "2.9"}; empty:
    // unknown, or torch is not used.
    std::string torch_at_least, torch_below, torch_cxx11_abi;
    std::vector<std::string> torch_libraries;  // "libtorch_cuda.so"
    bool has_code = false;                     // files for the processor
    bool is_ours = false;                      // built by a farm, which says how
    std::string built_cpu;  // the processor that its build's options ask for; empty: unknown
    // What a variant wheel's label means, sorted (PEP 825); absent: unknown, or it has no label.
    std::optional<std::vector<wheel::VariantProperty>> variant;
};

[[nodiscard]] Needs needs_of(const Candidate& candidate);

// The libraries, and the files in its search paths, that a node is asked for.
[[nodiscard]] std::vector<std::string> names_to_ask(const Needs& needs);
// A module of setuptools: where it is installed, importing distutils finds it there.
inline constexpr std::string_view distutils_shim = "_distutils_hack";
// The modules that a Python is asked for.
[[nodiscard]] std::vector<std::string> modules_to_ask(const Needs& needs);
// The C functions of PyPy that a node is asked for.
[[nodiscard]] std::vector<std::string> functions_to_ask(const Needs& needs);
// The library that defines versions of this prefix: "GLIBCXX" → "libstdc++.so.6"; empty: none that is
// checked.
[[nodiscard]] std::string_view library_of_prefix(std::string_view prefix);
// Says whether every Linux system with Python has it.
[[nodiscard]] bool is_everywhere(std::string_view library);
// Says whether installing `project` (normalised) brings the library.
[[nodiscard]] bool brings(std::string_view project, const NeededLibrary& library);

// The libraries that other wheels can load from this one.
[[nodiscard]] std::vector<std::string> provided_by(const Candidate& candidate);

// Only the modules, for a column: "cudacore/12.2.2,openmpi/4.1.6".
[[nodiscard]] std::vector<std::string> modules_of(const Candidate& candidate);

// The MPI that a library belongs to, by its soname: {"Open MPI", {"openmpi", …}}; nullopt: unknown.
struct MpiFamily {
    std::string_view name;
    std::vector<std::string_view> modules;  // names of modules that provide it
};
[[nodiscard]] std::optional<MpiFamily> mpi_family(std::string_view soname);

}  // namespace wheelyard::avail_wheels
