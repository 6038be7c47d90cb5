// A wheel's requirements on a node: from the proven facts of its index, otherwise from its file name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "indexer/avail_wheels/node/node.hpp"
#include "indexer/avail_wheels/query/candidate.hpp"
#include "lib/accelerator/accelerator_kind.hpp"

namespace wheelyard::avail_wheels {

// What a wheel has for one kind of accelerator.
struct GpuNeeds {
    const accelerator::AcceleratorKind* kind = nullptr;
    // Its device code, one list for each of kind->device_code: {"sm_90"}, {"compute_90"}.
    std::vector<std::vector<std::string>> code;
    std::string toolkit;  // it was built with: "12.6", or "12" if only that is known; empty: unknown

    [[nodiscard]] bool has_code() const;
};

struct Needs {
    bool proven = false;                // facts were available
    std::vector<std::string> machines;  // empty: any
    std::optional<Dotted> glibc;
    std::string cpu;               // "x86-64-v3"; empty: unknown or none
    std::vector<GpuNeeds> gpus;    // the kinds of accelerators that it is for, in the order of their table
    std::vector<std::string> mpi;  // libraries: "libmpi.so.40"
    std::vector<std::string> modules;  // modules it was built against: "cudacore/12.2.2"
};

[[nodiscard]] Needs needs_of(const Candidate& candidate);

// Only the modules, for a column: "cudacore/12.2.2,openmpi/4.1.6".
[[nodiscard]] std::vector<std::string> modules_of(const Candidate& candidate);

// The MPI that a library belongs to, by its soname: {"Open MPI", {"openmpi", …}}; nullopt: unknown.
struct MpiFamily {
    std::string_view name;
    std::vector<std::string_view> modules;  // names of modules that provide it
};
[[nodiscard]] std::optional<MpiFamily> mpi_family(std::string_view soname);

}  // namespace wheelyard::avail_wheels
