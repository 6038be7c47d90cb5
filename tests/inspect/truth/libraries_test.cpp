// Classification of libraries by name.
#include "lib/inspect/truth/libraries.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;

TEST_CASE("a library's kind is determined by its name") {
    struct Row {
        std::string_view kind;
        std::string_view name;
    };
    for (const Row& row : {
             Row{"system", "libc.so.6"},           Row{"system", "ld-linux-aarch64.so.1"},
             Row{"system", "ld64.so.2"},           Row{"system", "libstdc++.so.6"},
             Row{"system", "libmvec.so.1"},        Row{"system", "libc.musl-x86_64.so.1"},
             Row{"cuda", "libcuda.so.1"},          Row{"cuda", "libcudart.so.12"},
             Row{"cuda", "libcublasLt.so.12"},     Row{"cuda", "libnccl.so.2"},
             Row{"cuda", "libcusparseLt.so.0"},    Row{"cuda", "libnvJitLink.so.12"},
             Row{"rocm", "libamdhip64.so.6"},      Row{"rocm", "librccl.so.1"},
             Row{"rocm", "libhipblaslt.so.0"},     Row{"rocm", "libMIOpen.so.1"},
             Row{"mpi", "libmpi.so.40"},           Row{"mpi", "libmpi_cray.so.12"},
             Row{"mpi", "libmpi_gtl_cuda.so.0"},   Row{"mpi", "libmpich.so.12"},
             Row{"mpi", "libpmix.so.2"},           Row{"network", "libfabric.so.1"},
             Row{"network", "libucp.so.0"},        Row{"torch", "libtorch_cpu.so"},
             Row{"torch", "libc10_cuda.so"},       Row{"python", "libpython3.11.so.1.0"},
             Row{"opencl", "libOpenCL.so.1"},      Row{"intel", "libiomp5.so"},
             Row{"intel", "libmkl_rt.so.2"},       Row{"intel", "libtbb.so.12"},
             Row{"intel", "libsvml.so"},           Row{"intel", "libimf.so"},
             Row{"intel", "libsycl.so.8"},         Row{"intel", "libze_loader.so.1"},
             Row{"unknown", "libtbbx.so"},         Row{"unknown", "libOpenCLx.so"},
             Row{"unknown", "libgomp.so.1"},       Row{"unknown", "libcudata.so"},
             Row{"blas", "libopenblas.so.0"},      Row{"unknown", "libm.so.7"},
             Row{"blas", "libsci_gnu_82_mp.so.5"}, Row{"blas", "libflexiblas.so.3"},
             Row{"blas", "liblapack.so.3"},        Row{"unknown", "libblasx.so"},
             Row{"unknown", "libc.so.60"},         Row{"unknown", ""},
         }) {
        CAPTURE(row.name);
        CHECK(inspect::library_kind_text(row.name) == row.kind);
    }
}

TEST_CASE("the two C libraries are distinguished") {
    CHECK(inspect::is_musl("libc.musl-aarch64.so.1"));
    CHECK(inspect::is_musl("ld-musl-x86_64.so.1"));
    CHECK(inspect::is_musl("libc.so"));
    CHECK_FALSE(inspect::is_musl("libc.so.6"));
    CHECK(inspect::is_glibc("libc.so.6"));
    CHECK(inspect::is_glibc("ld-linux-x86-64.so.2"));
    CHECK_FALSE(inspect::is_glibc("libm.so.6"));
}

TEST_CASE("glibc's own libraries are recognised, similar names are not") {
    for (const std::string_view name : {"libc.so.6", "ld-linux-x86-64.so.2", "ld64.so.1", "libm.so.6",
                                        "libmvec.so.1", "libpthread.so.0", "libresolv.so.2", "libnsl.so.1"})
        CHECK_MESSAGE(inspect::is_part_of_glibc(name), name);
    for (const std::string_view name :
         {"libnsl.so.2", "libcrypt.so.1", "libm.so", "libm-1a2b3c4d.so.6", "libstdc++.so.6", "libc.so", ""})
        CHECK_MESSAGE(!inspect::is_part_of_glibc(name), name);
}
