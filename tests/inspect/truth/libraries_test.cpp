// Classification of libraries by name.
#include "lib/inspect/truth/libraries.hpp"

#include <doctest/doctest.h>

using namespace wheelyard;
using inspect::LibraryKind;

TEST_CASE("a library's kind is determined by its name") {
    struct Row {
        LibraryKind kind;
        std::string_view name;
    };
    for (const Row& row : {
             Row{LibraryKind::system, "libc.so.6"},
             Row{LibraryKind::system, "ld-linux-aarch64.so.1"},
             Row{LibraryKind::system, "ld64.so.2"},
             Row{LibraryKind::system, "libstdc++.so.6"},
             Row{LibraryKind::system, "libmvec.so.1"},
             Row{LibraryKind::system, "libc.musl-x86_64.so.1"},
             Row{LibraryKind::cuda, "libcuda.so.1"},
             Row{LibraryKind::cuda, "libcudart.so.12"},
             Row{LibraryKind::cuda, "libcublasLt.so.12"},
             Row{LibraryKind::cuda, "libnccl.so.2"},
             Row{LibraryKind::cuda, "libcusparseLt.so.0"},
             Row{LibraryKind::cuda, "libnvJitLink.so.12"},
             Row{LibraryKind::rocm, "libamdhip64.so.6"},
             Row{LibraryKind::rocm, "librccl.so.1"},
             Row{LibraryKind::rocm, "libhipblaslt.so.0"},
             Row{LibraryKind::rocm, "libMIOpen.so.1"},
             Row{LibraryKind::mpi, "libmpi.so.40"},
             Row{LibraryKind::mpi, "libmpi_cray.so.12"},
             Row{LibraryKind::mpi, "libmpi_gtl_cuda.so.0"},
             Row{LibraryKind::mpi, "libmpich.so.12"},
             Row{LibraryKind::mpi, "libpmix.so.2"},
             Row{LibraryKind::network, "libfabric.so.1"},
             Row{LibraryKind::network, "libucp.so.0"},
             Row{LibraryKind::torch, "libtorch_cpu.so"},
             Row{LibraryKind::torch, "libc10_cuda.so"},
             Row{LibraryKind::python, "libpython3.11.so.1.0"},
             Row{LibraryKind::opencl, "libOpenCL.so.1"},
             Row{LibraryKind::intel, "libiomp5.so"},
             Row{LibraryKind::intel, "libmkl_rt.so.2"},
             Row{LibraryKind::intel, "libtbb.so.12"},
             Row{LibraryKind::intel, "libsvml.so"},
             Row{LibraryKind::intel, "libimf.so"},
             Row{LibraryKind::intel, "libsycl.so.8"},
             Row{LibraryKind::intel, "libze_loader.so.1"},
             Row{LibraryKind::unknown, "libtbbx.so"},
             Row{LibraryKind::unknown, "libOpenCLx.so"},
             Row{LibraryKind::unknown, "libgomp.so.1"},
             Row{LibraryKind::unknown, "libcudata.so"},
             Row{LibraryKind::blas, "libopenblas.so.0"},
             Row{LibraryKind::unknown, "libm.so.7"},
             Row{LibraryKind::blas, "libsci_gnu_82_mp.so.5"},
             Row{LibraryKind::blas, "libflexiblas.so.3"},
             Row{LibraryKind::blas, "liblapack.so.3"},
             Row{LibraryKind::unknown, "libblasx.so"},
             Row{LibraryKind::unknown, "libc.so.60"},
             Row{LibraryKind::unknown, ""},
         }) {
        CAPTURE(row.name);
        CHECK(inspect::library_kind_text(inspect::library_kind(row.name)) ==
              inspect::library_kind_text(row.kind));
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
