// Which package brings what a line of a log misses.
#include "builder/doctor/packages.hpp"

#include <doctest/doctest.h>

#include "builder/doctor/doctor.hpp"

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

TEST_CASE("what to install is commands to paste, for the distributions that the table knows") {
    CHECK(
        commands_for("fatal error: hdf5.h: No such file or directory") ==
        "Debian, Ubuntu: apt-get install libhdf5-dev; Red Hat: dnf install hdf5-devel; SUSE: zypper install "
        "hdf5-devel; modules: module spider hdf5");
    CHECK(commands_for("fatal error: libaio.h: No such file or directory") ==
          "Debian, Ubuntu: apt-get install libaio-dev; modules: module spider libaio");
    CHECK(commands_for("/usr/bin/ld: cannot find -lssl") ==
          "Debian, Ubuntu: apt-get install libssl-dev; Red Hat: dnf install openssl-devel; SUSE: zypper "
          "install "
          "libopenssl-devel; modules: module spider openssl");
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

}  // namespace
}  // namespace wheelyard::builder
