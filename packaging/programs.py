"""Compiles Wheelyard's programs for one machine with the static libraries."""

import fcntl
import re
import subprocess

import libraries
from fetch import KEPT, REBUILD, ROOT, STATE, environment, run, wrappers

PROGRAMS = ["avail_wheels", "wheelyard-builder", "wheelyard-governor", "wheelyard-indexer", "wheelyard-registry"]

# musl gives a thread 128 KiB of stack unless the program asks for more: here what glibc gives.
STACK_BYTES = 8 << 20


def remove_outdated(folder, stamps):
    """Removes programs that are older than a library, so that they are linked again: CMake knows only some of the archives."""
    newest = max(stamp.stat().st_mtime_ns for stamp in stamps)
    for program in (folder / name for name in PROGRAMS):
        if program.exists() and program.stat().st_mtime_ns < newest:
            program.unlink()


def commit_of(folder):
    """Of which these programs are, as they say it, in 12 digits; None: some do not say, differ, or are for another machine."""
    said = set()
    for program in (folder / name for name in PROGRAMS if (folder / name).exists()):
        try:
            text = subprocess.run([program.absolute(), "--version"], capture_output=True, text=True).stdout
        except OSError:
            return None
        found = re.search(r"^commit ([0-9a-f]{12})$", text, re.M)
        said.add(found and found[1])
    return said.pop() if len(said) == 1 else None


def build(machine, jobs):
    """The folder with the stripped programs. Another clone's run waits: both link the archives in KEPT."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with open(KEPT / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        libraries.build_all(machine, jobs)
        return link(machine, jobs)


def link(machine, jobs):
    folder = STATE / machine / "programs"
    folder.mkdir(parents=True, exist_ok=True)
    # What the archives need of each other: CMake's find modules know the shared libraries, which say it themselves.
    archives = " ".join(str(path) for path in sorted((KEPT / machine / "root/lib").glob("*.a")))
    flags = f"{libraries.FLAGS} -ffile-prefix-map={ROOT}=. -ffile-prefix-map={KEPT / machine / 'root'}=/usr"
    print(f"package: {machine}: Wheelyard's programs", flush=True)
    with open(STATE / machine / "programs.log", "w") as log:
        options = {"cwd": ROOT, "env": environment(), "stdout": log, "stderr": log}
        run(["cmake", "-G", "Ninja", "-S", ROOT, "-B", folder, *libraries.cmake_arguments(machine), "-DWHEELYARD_TESTS=OFF",
             f"-DWHEELYARD_REBUILD={REBUILD}", "-DWHEELYARD_ISAL=OFF", "-DWHEELYARD_PCH=OFF", "-DWHEELYARD_CCACHE=OFF", "-DWHEELYARD_UNITY=ON", f"-DCMAKE_C_FLAGS={flags}",
             f"-DCMAKE_CXX_FLAGS={flags}", "-DCMAKE_CXX_FLAGS_RELEASE=-DNDEBUG",
             f"-DCMAKE_CXX_STANDARD_LIBRARIES=-Wl,--start-group {archives} -Wl,--end-group",
             f"-DCMAKE_EXE_LINKER_FLAGS=-static -pie -s -Wl,--gc-sections -Wl,-z,stack-size={STACK_BYTES}"], **options)
        remove_outdated(folder / "bin", (KEPT / machine).glob("*.stamp"))
        run(["cmake", "--build", folder, "-j", jobs, "--target", *PROGRAMS], **options)
    return folder / "bin"
