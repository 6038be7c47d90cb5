"""Compiles the pinned libraries for one machine as static archives into MACHINE/root of the folder that all clones share."""

import hashlib
import inspect
import os
import shutil
from pathlib import Path

from fetch import KEPT, LIBRARIES, ROOT, SOURCES, PackageError, environment, pin, run, unpack, wrappers

FLAGS = "-O2 -fPIC -ffunction-sections -fdata-sections -fstack-protector-strong -fno-sanitize=all"
OPENSSL_TARGETS = {"x86_64": "linux-x86_64", "aarch64": "linux-aarch64"}

# Only what Wheelyard calls: HTTP and HTTPS; tar and zip; no protocol, format or program that nothing asks for.
CMAKE_OPTIONS = {
    "xz-utils": ["BUILD_SHARED_LIBS=OFF"],
    "libzstd": ["ZSTD_BUILD_SHARED=OFF", "ZSTD_BUILD_PROGRAMS=OFF", "ZSTD_BUILD_TESTS=OFF"],
    "libarchive": ["BUILD_SHARED_LIBS=OFF", "ENABLE_WERROR=OFF", "ENABLE_TEST=OFF", "ENABLE_INSTALL=ON", "ENABLE_TAR=OFF",
                   "ENABLE_CPIO=OFF", "ENABLE_CAT=OFF", "ENABLE_OPENSSL=OFF", "ENABLE_NETTLE=OFF", "ENABLE_LIBXML2=OFF",
                   "ENABLE_EXPAT=OFF", "ENABLE_PCREPOSIX=OFF", "ENABLE_LIBB2=OFF", "ENABLE_LZ4=OFF", "ENABLE_LZO=OFF",
                   "ENABLE_ACL=OFF", "ENABLE_XATTR=OFF", "ENABLE_ICONV=OFF", "ENABLE_CNG=OFF"],
    "cmark-gfm": ["CMARK_SHARED=OFF", "CMARK_STATIC=ON", "CMARK_TESTS=OFF"],
    "curl": ["BUILD_SHARED_LIBS=OFF", "BUILD_CURL_EXE=OFF", "BUILD_TESTING=OFF", "HTTP_ONLY=ON", "CURL_USE_OPENSSL=ON",
             "CURL_USE_LIBSSH2=OFF", "CURL_USE_LIBPSL=OFF", "USE_LIBIDN2=OFF", "USE_NGHTTP2=OFF", "CURL_BROTLI=OFF",
             "CURL_ZSTD=ON", "CURL_CA_BUNDLE=none", "CURL_CA_PATH=none", "ENABLE_MANUAL=OFF", "CURL_DISABLE_NTLM=ON"],
}
CMAKE_FOLDER = {"libzstd": "build/cmake"}
CMAKE_TARGET = {"xz-utils": "liblzma"}
CMAKE_INSTALL = {"xz-utils": ["--component", "liblzma_Development"]}


def cmake_arguments(machine):
    """How CMake compiles for `machine`: the toolchain file, our archives first, and nothing of this system."""
    prefix = KEPT / machine / "root"
    return [f"-DCMAKE_TOOLCHAIN_FILE={ROOT / 'packaging/zig.cmake'}", f"-DWHEELYARD_MACHINE={machine}",
            f"-DWHEELYARD_TOOLS={wrappers(machine)}", f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_INSTALL_PREFIX={prefix}",
            "-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_INSTALL_LIBDIR=lib"]


def build_cmake(name, tree, build, prefix, machine, jobs, options):
    maps = f"{FLAGS} -ffile-prefix-map={tree}=. -ffile-prefix-map={build}=."
    run(["cmake", "-G", "Unix Makefiles", "-S", tree / CMAKE_FOLDER.get(name, "."), "-B", build, *cmake_arguments(machine),
         f"-DCMAKE_C_FLAGS={maps}", "-DCMAKE_C_FLAGS_RELEASE=-DNDEBUG",
         *(f"-D{option}" for option in CMAKE_OPTIONS[name])], **options)
    run(["cmake", "--build", build, "-j", jobs, "--target", CMAKE_TARGET.get(name, "all")], **options)
    run(["cmake", "--install", build, *CMAKE_INSTALL.get(name, [])], **options)


def build_zlib(tree, build, prefix, machine, jobs, options):
    """By its own script: Debian's source lacks a file that its CMakeLists.txt names."""
    tools = wrappers(machine)
    options = options | {"env": options["env"] | {"CC": tools / "cc", "AR": tools / "ar", "RANLIB": tools / "ranlib",
                                                  "CFLAGS": f"{FLAGS} -ffile-prefix-map={build}=.", "CHOST": machine}}
    shutil.copytree(tree, build, dirs_exist_ok=True)
    run(["sh", "./configure", "--static", f"--prefix={prefix}"], **options)
    run(["make", "-s", f"-j{jobs}", "libz.a"], **options)
    run(["make", "-s", "install"], **options)


def build_openssl(tree, build, prefix, machine, jobs, options):
    tools = wrappers(machine)
    maps = f"{FLAGS} -ffile-prefix-map={tree}=. -ffile-prefix-map={build}=."
    run([tree / "Configure", OPENSSL_TARGETS[machine], f"--prefix={prefix}", "--libdir=lib", "--openssldir=/etc/ssl",
         "no-shared", "no-tests", "no-module", "no-dso", "no-engine", "no-legacy", "no-afalgeng", "no-ssl3", "no-comp",
         f"CC={tools / 'cc'}", f"AR={tools / 'ar'}", f"RANLIB={tools / 'ranlib'}", f"CFLAGS={maps}"], **options)
    # What the library says of itself names no folder of this machine: the same commit gives the same bytes in every folder.
    run(["make", "-s", "crypto/buildinf.h", "CC=cc", f"CFLAGS={FLAGS}"], **options)
    run(["make", "-s", f"-j{jobs}", "build_libs", "ENGINESDIR=/usr/lib/engines-3", "MODULESDIR=/usr/lib/ossl-modules"], **options)
    run(["make", "-s", "install_dev"], **options)


def build_bzip2(tree, build, prefix, machine, jobs, options):
    tools = wrappers(machine)
    shutil.copytree(tree, build, dirs_exist_ok=True)
    run(["make", "-s", f"-j{jobs}", "libbz2.a", f"CC={tools / 'cc'}", f"AR={tools / 'ar'}", f"RANLIB={tools / 'ranlib'}",
         f"CFLAGS={FLAGS} -ffile-prefix-map={build}=. -D_FILE_OFFSET_BITS=64"], **options)
    shutil.copy(build / "libbz2.a", prefix / "lib")
    shutil.copy(build / "bzlib.h", prefix / "include")


def build_sqlite3(tree, build, prefix, machine, jobs, options):
    """Debian's source has no amalgamation: its makefile writes it, with tclsh."""
    tools = wrappers(machine)
    run([tree / "configure", "--disable-tcl", "--disable-shared", "--disable-readline", f"--prefix={prefix}"], **options)
    run(["make", "-s", "sqlite3.c"], **options)
    defines = ["SQLITE_THREADSAFE=1", "SQLITE_OMIT_LOAD_EXTENSION", "SQLITE_ENABLE_COLUMN_METADATA", "SQLITE_SECURE_DELETE",
               "SQLITE_ENABLE_UNLOCK_NOTIFY", "HAVE_USLEEP=1", "SQLITE_ENABLE_DBSTAT_VTAB"]
    run([tools / "cc", *FLAGS.split(), f"-ffile-prefix-map={build}=.", *(f"-D{each}" for each in defines),
         "-c", build / "sqlite3.c", "-o", build / "sqlite3.o"], **options)
    archive = prefix / "lib/libsqlite3.a"
    archive.unlink(missing_ok=True)
    run([tools / "ar", "rcsD", archive, build / "sqlite3.o"], **options)
    for header in ("sqlite3.h", "sqlite3ext.h"):
        found = build / header
        shutil.copy(found if found.exists() else tree / "src" / header, prefix / "include")


BUILDERS = {"zlib": build_zlib, "openssl": build_openssl, "bzip2": build_bzip2, "sqlite3": build_sqlite3}


def build(name, machine, jobs):
    """Compiles one library unless the same pin, options and code did it before."""
    prefix = KEPT / machine / "root"
    stamp = KEPT / machine / f"{name}.stamp"
    shared = map(inspect.getsource, (BUILDERS.get(name, build_cmake), cmake_arguments, wrappers))
    code = "".join(shared) + (ROOT / "packaging/zig.cmake").read_text() + "".join(
        map(str, (FLAGS, OPENSSL_TARGETS[machine], CMAKE_OPTIONS.get(name), CMAKE_TARGET.get(name), CMAKE_INSTALL.get(name))))
    key = f"{pin(name)} {hashlib.sha256(code.encode()).hexdigest()} {SOURCES['compiler']['version']}"
    if stamp.exists() and stamp.read_text() == key:
        return
    print(f"package: {machine}: {name} {LIBRARIES[name]['version']}", flush=True)
    tree = unpack(name)
    folder = KEPT / machine / "build" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for each in ("lib", "include"):
        (prefix / each).mkdir(parents=True, exist_ok=True)
    with open(KEPT / machine / f"{name}.log", "w") as log:
        options = {"cwd": folder, "env": environment(), "stdout": log, "stderr": log}
        if name in CMAKE_OPTIONS:
            build_cmake(name, tree, folder, prefix, machine, jobs, options)
        else:
            BUILDERS[name](tree, folder, prefix, machine, jobs, options)
    for shared in (prefix / "lib").glob("*.so*"):  # libarchive 3.6 makes one, and CMake would prefer it
        shared.unlink()
    stamp.write_text(key)


def headers(machine):
    """Links the header-only libraries of the system into the root, and nothing else of /usr/include."""
    include = KEPT / machine / "root/include"
    for package, folder in SOURCES["headers"].items():
        if not Path("/usr/include", folder).is_dir():
            raise PackageError(f"/usr/include/{folder} is missing: run scripts/install-deps ({package})")
        if not (include / folder).exists():
            os.symlink(f"/usr/include/{folder}", include / folder)


def build_all(machine, jobs):
    for name in LIBRARIES:  # what a mirror lacks is told before anything is compiled
        unpack(name)
    for name in LIBRARIES:  # in the table's order: a library comes after what it needs
        build(name, machine, jobs)
    headers(machine)
