// Which package brings what a line of a log misses.
#include "builder/doctor/doctor.hpp"

#include <doctest/doctest.h>

namespace wheelyard::builder {
namespace {

std::string commands_for(std::string_view line) {
    return install_commands(wanted_by(line));
}

TEST_CASE("the name that a line misses is found in each tool's notation") {
    struct Row {
        const char* line;
        WantedKind kind;
        const char* name;
    };
    const Row rows[] = {
        {"a.c:1:10: fatal error: hdf5.h: No such file or directory", WantedKind::header, "hdf5.h"},
        {"a.c:1:10: fatal error: hdf5/serial/H5public.h: No such file or directory", WantedKind::header,
         "h5public.h"},
        {"a.c:1:10: fatal error: 'ffi.h' file not found", WantedKind::header, "ffi.h"},
        {"a.c(4): catastrophic error: cannot open source file \"geodesic.h\"", WantedKind::header,
         "geodesic.h"},
        {"/usr/bin/ld: cannot find -lxml2: No such file or directory", WantedKind::library, "xml2"},
        {"/usr/bin/ld: cannot find -lxml2", WantedKind::library, "xml2"},
        {"ImportError: libfabric.so.1: cannot open shared object file: No such file or directory",
         WantedKind::library, "fabric"},
        {"  Could NOT find FFTW (missing: FFTW_LIBRARIES)", WantedKind::package, "fftw"},
        {"Package libffi was not found in the pkg-config search path.", WantedKind::package, "libffi"},
        {"meson.build:3:0: ERROR: Dependency \"openblas\" not found, tried pkgconfig", WantedKind::package,
         "openblas"},
        {"ValueError: did not find HDF5 headers", WantedKind::package, "hdf5"},
        {"Error: pg_config executable not found.", WantedKind::program, "pg_config"},
        {"/bin/sh: 1: swig: not found", WantedKind::program, "swig"},
        {"gcc: error: src/x.c: No such file or directory", WantedKind::nothing, ""},
        {"x.c:3:1: error: expected ';'", WantedKind::nothing, ""},
        {"", WantedKind::nothing, ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.line);
        const Wanted wanted = wanted_by(row.line);
        CHECK(wanted.kind == row.kind);
        CHECK(wanted.name == row.name);
    }
}

TEST_CASE("what is missing is said in the words of the rules, whichever tool says it") {
    struct Row {
        const char* line;
        const char* words;
    };
    const Row rows[] = {
        {"a.c:1:10: fatal error: thc/thc.h: no such file or directory", "header 'thc/thc.h' not found"},
        {"a.cpp:1:10: fatal error: 'mpi.h' file not found", "header 'mpi.h' not found"},
        {"a.cu(3): catastrophic error: cannot open source file \"cublas_v2.h\"",
         "header 'cublas_v2.h' not found"},
        {"/b/rabit/src/a.cc:15:10: fatal error: rabit/io.h: no such file or directory",
         "own header 'rabit/io.h' not found"},
        {"/v/torch/include/torch/all.h:3:10: fatal error: torch/nn.h: no such file or directory",
         "header 'torch/nn.h' not found"},
        {"/usr/bin/ld: cannot find -lcuda", "library 'cuda' not found"},
        {"/usr/bin/ld: cannot find -lcudart: no such file or directory", "library 'cudart' not found"},
        {"/bin/sh: 1: pkg-config: not found", "program 'pkg-config' not found"},
        {"x.c:3:1: error: expected ';'", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.line);
        CHECK(missing_thing(row.line) == row.words);
    }
}

TEST_CASE("what to install is commands to paste, for the distributions that the table knows") {
    CHECK(
        commands_for("fatal error: hdf5.h: No such file or directory") ==
        "Debian, Ubuntu: apt-get install libhdf5-dev; Red Hat: dnf install hdf5-devel; SUSE: zypper install "
        "hdf5-devel; modules: module spider hdf5; or its folder in HDF5_DIR");
    CHECK(commands_for("fatal error: libaio.h: No such file or directory") ==
          "Debian, Ubuntu: apt-get install libaio-dev; modules: module spider libaio");
    CHECK(commands_for("/usr/bin/ld: cannot find -lssl") ==
          "Debian, Ubuntu: apt-get install libssl-dev; Red Hat: dnf install openssl-devel; SUSE: zypper "
          "install "
          "libopenssl-devel; modules: module spider openssl; or its folder in OPENSSL_DIR");
    CHECK(commands_for("make: nasm: No such file or directory") ==
          "Debian, Ubuntu: apt-get install nasm; modules: module spider nasm");
    CHECK(commands_for("fatal error: nobody-has-this.h: No such file or directory").empty());
    CHECK(search_commands(wanted_by("fatal error: odd.h: No such file or directory"))
              .starts_with("Debian, Ubuntu: apt-file search /odd.h; Red Hat: dnf provides '*/odd.h'"));
    CHECK(search_commands(Wanted{}).empty());
}

TEST_CASE("a report's remedy names the package, but no distribution has CUDA's headers") {
    const auto remedy = [](std::string_view log) {
        Doctor doctor;
        doctor.feed(log);
        const Examination seen = doctor.finish();
        REQUIRE(seen.likeliest() != nullptr);
        return remedy_of(*seen.likeliest());
    };
    CHECK(remedy("a.c:1:10: fatal error: ffi.h: No such file or directory\n")
              .find("apt-get install libffi-dev") != std::string::npos);
    CHECK(
        remedy("a.c:1:10: fatal error: odd.h: No such file or directory\n").find("apt-file search /odd.h") !=
        std::string::npos);
    CHECK(remedy("a.c:1:10: fatal error: cublas_v2.h: No such file or directory\n").find("apt-") ==
          std::string::npos);
}

TEST_CASE("the owner of a missing symbol is told by how its name begins, as loader and linker write it") {
    struct Row {
        const char* line;
        const char* owner;
    };
    const Row rows[] = {
        {"ImportError: /v/a.so: undefined symbol: _gfortran_string_len_trim", "GCC's Fortran run time"},
        {"ImportError: /v/a.so: undefined symbol: ompi_mpi_comm_world", "MPI"},
        {"ImportError: /v/a.so: undefined symbol: PyUnicodeUCS4_AsUTF8String", "another Python"},
        {"ImportError: /v/a.so: undefined symbol: __kmpc_for_static_fini", "OpenMP"},
        {"ImportError: /v/a.so: undefined symbol: __svml_sin8", "Intel's compiler run time"},
        {"ImportError: /m/libmkl_sycl_lapack.so.4: undefined symbol: mkl_lapack_dsytrd_sb2st_block_rfg",
         "MKL"},
        {"ImportError: /v/a.so: undefined symbol: __nvJitLinkComplete_12_4, version libnvJitLink.so.12",
         "CUDA"},
        {"ImportError: /v/a.so: undefined symbol: _ZN3c1015SmallVectorBaseIjE8grow_podEPKvmm", "torch"},
        {"ImportError: /v/a.so: undefined symbol: cblas_dgemm", "BLAS"},
        {"ImportError: /v/a.so: undefined symbol: GOMP_parallel", "libgomp"},
        {"ImportError: /v/a.so: undefined symbol: EVP_MD_CTX_new", "OpenSSL"},
        {"ImportError: /v/a.so: undefined symbol: __extendhfsf2", "compiler's own library"},
        {"u.cpp:(.text+0x5): undefined reference to `vtable for c10::Error'", "torch"},
        {"u.c:(.text+0x5): undefined reference to `omp_get_max_threads'", "an OpenMP run time"},
        {"ld: error: undefined symbol: cuInit", "the CUDA driver"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.line);
        CHECK(symbol_advice(row.line).find(std::string("The symbol is of ")) == 0);
        CHECK(symbol_advice(row.line).substr(0, 70).find(row.owner) != std::string::npos);
    }
    for (const char* line :
         {"ImportError: /build/um.so: undefined symbol: gone", "u.c: undefined reference to `f'",
          "a.so: undefined symbol: rocksdb_open", "a.so: undefined symbol: for_each_node",
          "a.so: undefined symbol: crc32c_extend", "a.so: undefined symbol: vslice_new",
          "a.so: undefined symbol: SSL_ImportFD", "x.c:1: error: 'MPI_COMM_WORLD' undeclared"})
        CHECK(symbol_advice(line).empty());
}

TEST_CASE("who writes a line is told by the program in front of it") {
    struct Row {
        const char* line;
        const char* speaker;
    };
    const Row rows[] = {
        {"srun: error: unable to create step for job 77: connection timed out", "batch system"},
        {"=>> pbs: job killed: walltime 60 exceeded limit 30", "batch system"},
        {"/usr/bin/x86_64-linux-gnu-ld: final link failed: input/output error", "linker"},
        {"gcc-12: fatal error: cannot execute 'cc1plus'", "compiler"},
        {"intel(r) icc: error: #10052: could not checkout flexlm license", "compiler"},
        {"flexnet licensing error:-15,578. connection timed out", "license manager"},
        {"cp: error writing 'x': no space left on device", "files"},
        {"fatal: unable to access 'https://g.example/x.git/'", "download"},
        {"curl: (28) connection timed out", "download"},
        {"rsync: failed to connect to mirror.example.org: connection timed out (110)", "download"},
        {"x86_64-linux-gnu-gcc-12: fatal error: no input files", "compiler"},
        {"redis.exceptions.connectionerror: error 111 connecting to localhost:6379. connection refused.",
         "service"},
        {"urllib.error.urlerror: <urlopen error [errno 111] connection refused>", ""},
        {"failed to install: connection timed out", ""},
        {"npm install: connect etimedout 104.16.1.1:443", ""},
        {"hpcx-install: curl: (28) connection timed out", ""},
        {"a.cpp:3:10: fatal error: mpi.h: no such file or directory", ""},
        {"error: command 'gcc' failed with exit status 1", ""},
        {"connection timed out", ""},
    };
    for (const auto& row : rows) {
        CAPTURE(row.line);
        const auto speaker = speaker_of(row.line);
        CHECK((speaker ? speakers.text(*speaker) : "") == row.speaker);
    }
}

}  // namespace
}  // namespace wheelyard::builder
