// Which libraries of a companion and of torch do not go together, as a table: DT_NEEDED of both. Those with a version and a
// name are of wheels of the Python Package Index (bench/abi_matrix, tests/real_wheels/real-wheels.md).
#include "lib/inspect/abi/other_library.hpp"

#include <doctest/doctest.h>

using wheelyard::inspect::mpi_abi;
using wheelyard::inspect::other_library;

TEST_CASE("a companion and torch have one version of each runtime and one MPI") {
    struct Row {
        std::set<std::string> companion, torch;
        const char* sentence;  // nullptr: nothing is said
    };
    const Row rows[] = {
        // torchaudio 2.10.0, xformers 0.0.34 and 0.0.35: "OSError: libcudart.so.12: cannot open shared object file"
        {{"libc10.so", "libcudart.so.12", "libtorch_cuda.so"},
         {"libc.so.6", "libcublas.so.13", "libcudart.so.13", "libcudnn.so.9"},
         "needs libcudart.so.12, and torch 2 is linked to libcudart.so.13"},
        {{"libcudart.so.13"}, {"libcudart.so.13"}, nullptr},
        {{"libcudart.so.12"}, {"libc.so.6"}, nullptr},  // torch for processors, or with a static runtime
        {{"libc.so.6"}, {"libcudart.so.13"}, nullptr},
        // A library of another kind has a version of its own, and other projects' are none of an accelerator.
        {{"libcudart.so.12"}, {"libcudnn.so.9"}, nullptr},
        {{"libavutil.so.56"}, {"libavutil.so.57"}, nullptr},
        // bitsandbytes has a library for each CUDA and loads that of torch.
        {{"libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13"}, {"libcudart.so.12"}, nullptr},
        {{"libcudart.so.11.0", "libcudart.so.12"},
         {"libcudart.so.13"},
         "needs libcudart.so.11.0, and torch 2 is linked to libcudart.so.13"},
        {{"libcublas.so.12", "libcudart.so.12"},
         {"libcublas.so.13", "libcudart.so.12"},
         "needs libcublas.so.12, and torch 2 is linked to libcublas.so.13"},
        // ROCm 6 and 7
        {{"libamdhip64.so.6"},
         {"libamdhip64.so.7"},
         "needs libamdhip64.so.6, and torch 2 is linked to libamdhip64.so.7"},
        {{"libmpi.so.12"},
         {"libmpi.so.40"},
         "needs libmpi.so.12 (MPICH ABI), and torch 2 is linked to libmpi.so.40 (Open MPI 3 to 5)"},
        {{"libmpi.so.20"},
         {"libmpi.so.40"},
         "needs libmpi.so.20 (Open MPI 2), and torch 2 is linked to libmpi.so.40 (Open MPI 3 to 5)"},
        {{"libmpi_abi.so.0"},
         {"libmpi.so.12"},
         "needs libmpi_abi.so.0 (MPI 5 standard ABI), and torch 2 is linked to libmpi.so.12 (MPICH ABI)"},
        {{"libmpi_gnu_123.so.12"}, {"libmpi.so.12"}, nullptr},  // Cray's has MPICH's ABI
        {{"libmpi.so.12"}, {"libcudart.so.13"}, nullptr},       // torch without MPI
        {{"libmpi.so.99"}, {"libmpi.so.40"}, nullptr},          // of which the ABI is unknown
    };
    for (const auto& [companion, torch, sentence] : rows) {
        const auto other = other_library(companion, torch, "2");
        CAPTURE(*companion.begin());
        CHECK((other ? other->sentence : "") == (sentence == nullptr ? "" : sentence));
        if (other) CHECK(other->is_mpi == companion.begin()->starts_with("libmpi"));
    }
}

TEST_CASE("the ABI of an MPI by its soname") {
    // MPICH's ABI initiative, Open MPI's release notes, and section 20 of MPI 5.0.
    CHECK(mpi_abi("libmpi.so.12") == mpi_abi("libmpi_cray.so.12"));
    CHECK(mpi_abi("libmpi_abi.so.0") == "MPI 5 standard ABI");
    CHECK(mpi_abi("libmpi.so.20") != mpi_abi("libmpi.so.40"));
    CHECK(mpi_abi("libmpi_mpifh.so.40").empty());
}
