// Two versions of one library, or two MPIs, that a companion and its torch would bring into one process. The
// linker can load both where a module or a search path has the other one; torch alone does not bring it, and
// two of them share no state.
//
//     {"libcudart.so.12"} beside torch 2.12.1 with {"libcudart.so.13"}  →
//     "needs libcudart.so.12, and torch 2.12.1 is linked to libcudart.so.13"
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace wheelyard::inspect {

struct OtherLibrary {
    bool is_mpi = false;
    std::string sentence;  // what the companion does, without a subject and a full stop
};

// `companion`, `torch`: the libraries that each needs from outside of its wheel. Those of accelerators count,
// and MPI's, by its ABI. nullopt: one of the two has none, as where a runtime is linked statically, or one
// that both can use.
[[nodiscard]] std::optional<OtherLibrary> other_library(const std::set<std::string>& companion,
                                                        const std::set<std::string>& torch,
                                                        std::string_view torch_version);

// The ABI of an MPI library by its soname: "MPICH ABI", "Open MPI 3 to 5", "MPI 5 standard ABI"; empty: none
// that is known.
[[nodiscard]] std::string_view mpi_abi(std::string_view soname);

}  // namespace wheelyard::inspect
