#!/usr/bin/env python3
"""Compilers that a build calls by their path: all pass through wheelyard-governor, and where they do not, -j is not raised.

The table SHAPES is that of docs/reference/governor.md.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

from support.full import IS_FULL
from support.governed import CAP_S, GOVERNOR, HERE, MIB, SANITIZED, SLOWER, GovernedCase, mount_namespace

COUNT, EACH_MIB, LIMIT = 12 if IS_FULL else 7, 200, 1 << 30
# Under 1 GiB, compiles of 200 MiB: five fit. Command → compiler, as a path below {tools} or a name.
SHAPES = {
    "ninja -j $MAX_JOBS": "cuda/bin/nvcc",            # torch's extension builder
    "make CC={tools}/plain/gcc": "plain/gcc",
    "make CC=nvfortran": "nvfortran",
    "make CC='ccache {tools}/plain/gcc'": "plain/gcc",
    "make -j12 CC={tools}/xcc": "xcc",                # no table names it
    "env -i PATH=/usr/bin:/bin make -j12 CC={tools}/plain/gcc": "plain/gcc",
}
WAYS = ("execl", "execlp", "execle_empty", "execv", "execvp", "execve", "execve_empty", "execvpe_empty", "posix_spawn",
        "posix_spawnp", "posix_spawn_empty", "posix_spawnp_empty", "vfork_execv", "vfork_execvp", "vfork_execve_empty", "system", "popen")


class PathsCase(GovernedCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.bin = Path(cls.tools.name) / "tools"
        for name in ("cuda/bin/nvcc", "plain/gcc", "nvfortran", "xcc", "rustc"):
            (cls.bin / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(cls.hog, cls.bin / name)
        cls.program(cls.bin / "ccache", "#!/bin/sh\nexec \"$@\"\n")
        subprocess.run(["cc", "-O1", "-o", cls.bin / "execs", HERE / "execs.c"], check=True)
        # A static parent, whose exec the loader cannot replace.
        (cls.bin / "static.c").write_text("#include <unistd.h>\nint main(int n, char** words) { (void)n; execv(words[1], words + 1); return 127; }\n")
        subprocess.run(["cc", "-static", "-o", cls.bin / "static", cls.bin / "static.c"], check=True)

    def setUp(self):
        super().setUp()
        self.environment["PATH"] = f"{self.bin}:{self.environment['PATH']}"
        for name in [name for name in self.environment if name in ("CC", "CXX", "MAKEFLAGS", "MAX_JOBS", "CARGO_BUILD_JOBS", "GOMAXPROCS", "ASAN_OPTIONS", "LD_PRELOAD")]:
            del self.environment[name]

    def write(self, count: int, row: str, compiler: str = "cuda/bin/nvcc") -> None:
        lines = [f"rule nvcc\n  command = {self.bin}/{compiler} -c $in -o $out\n"]
        for number in range(count):
            (self.folder / f"s{number}.c").write_text(row)
            lines.append(f"build s{number}.o: nvcc s{number}.c\n")
        (self.folder / "build.ninja").write_text("".join(lines))
        objects = " ".join(f"s{number}.o" for number in range(count))
        (self.folder / "Makefile").write_text(f"all: {objects}\n%.o: %.c\n\t$(CC) -c $< -o $@\n")

    def running(self, program: Path) -> list[int]:
        """The processes of that file: neither launchers, nor the broker's questions for a version."""
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.readlink(entry / "exe") == str(program) and "\0-c\0" in self.command_line(int(entry.name)):
                    found.append(int(entry.name))
        return [pid for pid in found if not self.is_gone(pid)]  # at one moment: some may have ended before others began

    @contextlib.contextmanager
    def watched(self, program: Path):
        """A list that gets the largest number of processes of `program` at once."""
        most, ends = [0], threading.Event()

        def watch():
            while not ends.wait(0.01):
                most[0] = max(most[0], len(self.running(program)))
        thread = threading.Thread(target=watch)
        thread.start()
        try:
            yield most
        finally:
            ends.set()
            thread.join()


class Shapes(PathsCase):
    @unittest.skipIf(SANITIZED, "a sanitizer's launchers are too heavy for tight limits")
    def test_compilers_called_by_path_run_only_as_many_at_once_as_fit(self):
        self.environment["CUDA_HOME"] = f"{self.bin}/cuda"
        rows = []
        for shape, compiler in SHAPES.items():
            with self.subTest(shape):
                self.clean()
                self.write(COUNT, f"{EACH_MIB} {120 * SLOWER} 0")
                for log in self.folder.glob(".ninja_*"):
                    log.unlink()
                with self.watched(self.bin / compiler) as most:
                    result, summary = self.governed(None, LIMIT, ["sh", "-c", shape.format(tools=self.bin)], "--cores", "16")
                rows.append(f"{shape.format(tools='')}: {most[0]} at once")
                self.assertEqual((result.returncode, self.objects()), (0, COUNT), result.stdout + result.stderr)
                self.assertEqual((summary["compiles"], summary["jobs_capped_at"], summary["lost"]), (COUNT, None, 0))
                self.assertEqual({form["intercepted"] for form in summary["forms"]}, {True}, summary["forms"])
                self.assertGreaterEqual(most[0], 1)
                self.assertLessEqual(most[0], LIMIT // (EACH_MIB * MIB))
        print("\n".join(rows), file=sys.stderr)

    def test_make_starts_no_more_than_by_itself_if_its_compiler_is_unknown(self):
        """Its recipes may call it in a form that nothing recognises."""
        self.write(4, "2 100 0")
        _, summary = self.governed(None, LIMIT, ["make", f"CC={self.bin}/xcc"], "--cores", "4")
        self.assertEqual((summary["compiles"], summary["max_running"], summary["max_waiting"]), (4, 1, 1))
        self.clean()
        self.write(4, "2 1000 0")
        _, summary = self.governed(None, LIMIT, ["make", f"CC={self.bin}/plain/gcc"], "--cores", "4")
        self.assertEqual(summary["compiles"], 4)
        self.assertGreater(summary["max_waiting"] + summary["max_running"], 2)


class EveryWay(PathsCase):
    def test_every_way_of_exec_passes_with_its_words_and_environment(self):
        seen = self.folder / "seen"
        self.program(self.bin / "sub" / "mpiicx", f'#!/bin/sh\n[ "$1" = -c ] || exit 0\nenv > {seen}.env\nprintf "%s|" "$@" > {seen}\nexit 7\n')
        self.environment |= {"PATH": f"{self.bin}/sub:{self.environment['PATH']}", "KEPT": "a b"}
        for way in WAYS:
            program = "mpiicx" if re.search("vp|lp|spawnp", way) else f"{self.bin}/sub/mpiicx"
            with self.subTest(way):
                result, summary = self.governed(None, LIMIT, [self.bin / "execs", way, program, "-c", "a.c", "-o", "a.o"])
                self.assertEqual((result.returncode, seen.read_text()), (7, "-c|a.c|-o|a.o|"), result.stderr)
                self.assertEqual((summary["compiles"], summary["failed"]), (1, 1))
                environment = Path(f"{seen}.env").read_text()
                self.assertEqual("KEPT=a b\n" in environment, "empty" not in way)
                self.assertNotRegex(environment, "LD_PRELOAD|ASAN_OPTIONS")
                seen.unlink()

    def test_a_driver_that_starts_a_driver_by_path_is_one_compile(self):
        self.program(self.bin / "plain" / "mpicc", f'#!/bin/sh\nexec {self.bin}/plain/gcc "$@"\n')
        self.program(self.bin / "plain" / "wrap", '#!/bin/sh\n"$@"\n')  # what it starts is the compile
        (self.folder / "s.c").write_text("2 1 0")
        for command in (f"{self.bin}/plain/mpicc", f"{self.bin}/ccache {self.bin}/plain/mpicc",
                        f"{self.bin}/plain/wrap {self.bin}/plain/mpicc", f"env -i {self.bin}/plain/mpicc"):
            with self.subTest(command):
                result, summary = self.governed(None, LIMIT, ["sh", "-c", f"{command} -c s.c -o s.o && {command} --version; true"])
                self.assertEqual((result.returncode, summary["compiles"]), (0, 1), result.stderr)

    def test_the_compiler_that_is_the_command_itself_is_governed(self):
        (self.folder / "s.c").write_text("2 1 0")
        for program in (self.bin / "plain/gcc", "nvfortran"):
            self.assertEqual(self.governed(None, LIMIT, [program, "-c", "s.c", "-o", "s.o"])[1]["compiles"], 1)

    @unittest.skipUnless(shutil.which("cmake"), "no CMake")
    def test_a_build_that_cmake_configured_before_with_absolute_compilers_is_governed(self):
        (self.folder / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.21)\nproject(x C)\nadd_library(x STATIC x.c y.c z.c)\n")
        for name in "xyz":
            (self.folder / f"{name}.c").write_text(f"int {name}(void) {{ return 0; }}\n")
        self.environment["CC"] = "/usr/bin/cc"
        for generator in ("Ninja", "Unix Makefiles"):
            with self.subTest(generator):
                build = generator[:5]
                self.run_in(None, ["cmake", "-G", generator, "-S", ".", "-B", build], check=True)
                result, summary = self.governed(None, LIMIT, ["cmake", "--build", build])
                self.assertEqual((result.returncode, summary["compiles"]), (0, 3), result.stdout + result.stderr)

    def test_a_program_that_goes_by_another_name_is_run_by_that_name(self):
        """As ccache under a compiler's name, which would read the compiler's words as its own, or clang, which takes its language from its first word."""
        code = "import os, sys\nos.posix_spawn(sys.argv[1], [sys.argv[2], '-c', 's.c', '-o', 's.o'], os.environ)\nos.wait()\n"
        (self.folder / "s.c").write_text("2 1 0")
        for called, compiles in (("gcc", 1), ("/else/gcc", 1), ("g++", 0), ("gcc-12", 0), ("xcc", 0)):
            _, summary = self.governed(None, LIMIT, [sys.executable, "-c", code, self.bin / "plain/gcc", called])
            self.assertEqual((summary["compiles"], self.objects()), (compiles, 1))
        self.clean()
        self.environment["PATH"] = f"{self.bin}/plain:{self.environment['PATH']}"  # our link to gcc would be xcc
        result, _ = self.governed(None, LIMIT, [sys.executable, "-c", code.replace("posix_spawn", "posix_spawnp"), "gcc", "no-such"])
        self.assertEqual(self.objects(), 1, result.stderr)

    def test_a_process_that_starts_many_with_large_environments_does_not_grow(self):
        code = ("import os, resource\nenvironment = {f'V{i}': 'x' for i in range(20000)}\n"
                "size = lambda: int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
                "def start():\n    os.posix_spawn('/bin/true', ['true'], environment)\n    os.wait()\n"
                "start()\nbefore = size()\nfor _ in range(60):\n    start()\nprint('grew', size() - before)\n")
        result, _ = self.governed(None, LIMIT, [sys.executable, "-c", code])
        grew = int(re.search(r"grew (-?\d+)", result.stdout)[1])
        self.assertLess(grew, 60 * 160_000 / 2, "an array of 20000 pointers is left behind by each start")

    def test_a_missing_program_fails_as_without_a_governor(self):
        code = "import os, sys\ntry: os.posix_spawn(sys.argv[1], ['gcc', '-c', 'a.c', '-o', 'a.o'], os.environ)\nexcept OSError as e: print(e.errno)\n"
        (self.bin / "plain" / "g++").mkdir(exist_ok=True)  # a folder
        for program in ("/no/such/gcc", self.bin / "plain" / "g++"):
            command = [sys.executable, "-c", code, str(program)]
            plain = self.run_in(None, command)
            governed = self.run_in(None, [GOVERNOR, "--quiet", "--", *command])
            self.assertEqual((governed.returncode, governed.stdout, governed.stderr), (plain.returncode, plain.stdout, plain.stderr))

    def test_other_preloaded_libraries_stay_and_see_what_passes(self):
        (self.folder / "other.c").write_text(
            '#define _GNU_SOURCE\n#include <dlfcn.h>\n#include <unistd.h>\n'
            'int execve(const char* p, char* const a[], char* const e[]) {\n'
            '    if (write(2, "seen ", 5) < 0) return -1;\n'
            '    return ((int (*)(const char*, char* const[], char* const[]))dlsym(RTLD_NEXT, "execve"))(p, a, e); }\n')
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "other.so", "other.c", "-ldl"], cwd=self.folder, check=True)
        (self.folder / "s.c").write_text("2 1 0")
        self.environment["LD_PRELOAD"] = f"{self.folder}/other.so"
        script = f"echo $LD_PRELOAD; {self.bin}/execs execve {self.bin}/plain/gcc -c s.c -o s.o; env -i sh -c 'echo $LD_PRELOAD'"
        result, summary = self.governed(None, LIMIT, ["sh", "-c", script], "--quiet")
        first, *_, last = result.stdout.splitlines()
        self.assertRegex(first, rf"^/.*/libwheelyard-exec-\d+\.so:{self.folder}/other\.so$")
        self.assertRegex(last, r"^/.*/libwheelyard-exec-\d+\.so$")  # what env -i cleared was not ours
        self.assertEqual(summary["compiles"], 1, result.stderr)
        self.assertIn("seen ", result.stderr)

    def test_programs_with_gccs_address_sanitizer_run(self):
        (self.folder / "a.c").write_text('#include <stdio.h>\nint main(void) { puts("runs"); return 0; }\n')
        if self.run_in(None, ["/usr/bin/gcc", "-fsanitize=address", "a.c", "-o", "a"]).returncode != 0:
            self.skipTest("no gcc with AddressSanitizer")
        for call in ("./a", "ASAN_OPTIONS=detect_leaks=0 ./a", "env -i ./a"):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--", "sh", "-c", call])
            self.assertEqual((result.returncode, result.stdout), (0, "runs\n"), result.stderr)

    def test_the_library_needs_no_libc_of_any_version(self):
        """So that it loads into processes of an older glibc, and of musl."""
        found = self.run_in(None, [GOVERNOR, "--quiet", "--", "sh", "-c", "echo ${LD_PRELOAD%%:*}"]).stdout.strip()
        text = subprocess.run(["readelf", "-W", "-d", "--dyn-syms", "-V", found], capture_output=True, text=True, check=True).stdout
        self.assertNotRegex(text, r"\(NEEDED\)|GLIBC_|GLIBCXX_")
        undefined = set(re.findall(r" UND (\w+)", text))
        # All in glibc 2.2.5 (2.17 on aarch64) and in musl.
        self.assertLessEqual(undefined, {"access", "bcmp", "dl_iterate_phdr", "environ", "memchr", "memcmp", "memcpy", "memset", "mmap", "munmap",
                                         "strlen", "memrchr"})


class Law(PathsCase):
    def counts(self, limit: int, *options: str, **environment: str) -> tuple:
        self.environment |= environment
        script = "echo $MAX_JOBS $CMAKE_BUILD_PARALLEL_LEVEL; ninja -t list > /dev/null; ninja; make"
        result, summary = self.governed(None, limit, ["sh", "-c", script], "--cores", "8", *options)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split("\n")[0].split(), summary, result.stderr

    def test_parallelism_is_raised_if_every_form_is_intercepted(self):
        for name in ("cuda", "rocm"):
            (self.bin / name / "bin").mkdir(parents=True, exist_ok=True)
        shutil.copy(self.hog, self.bin / "rocm/bin/hipcc")
        self.write(2, "2 1 0")
        (jobs, cmake), summary, _ = self.counts(4 << 30, CC="/usr/bin/gcc", CXX=f"ccache {self.bin}/plain/gcc", CUDA_HOME=f"{self.bin}/cuda",
                                                ROCM_HOME=f"{self.bin}/rocm", FC=f"{self.bin}/no-such-compiler")
        forms = {row["form"]: row["intercepted"] for row in summary["forms"]}
        self.assertEqual(forms, dict.fromkeys(["by name", "by path", "ccache", "CC", "CXX", "CUDA_HOME", "ROCM_HOME"], True))
        self.assertIsNone(summary["jobs_capped_at"])
        self.assertEqual(jobs, cmake)
        self.assertGreater(int(jobs), 8)

    def test_a_form_that_is_not_intercepted_keeps_j_below_what_fits(self):
        """A static program starts the compiler by its path: nothing sees that."""
        self.write(6, "60 200 0")
        static = f"{self.bin}/static {self.bin}/plain/gcc"
        # 2 GiB for each compile, since none is known.
        for limit, own, jobs in ((5 << 30, "", "2"), (1 << 30, "", "1"), (64 << 30, "", "8"), (64 << 30, "3", "3")):
            with self.subTest(limit=limit, own=own):
                self.clean()
                environment = {"CC": static} | ({"MAX_JOBS": own, "CMAKE_BUILD_PARALLEL_LEVEL": own} if own else {})
                set_jobs, summary, text = self.counts(limit, "--no-history", **environment)
                self.assertEqual(set_jobs, [jobs, jobs])
                self.assertEqual({row["form"] for row in summary["forms"] if not row["intercepted"]}, {"CC"})
                self.assertIn(f"-j stays the build tool's own, at most {summary['jobs_capped_at']} (2 GiB each, as none is known", text)
                self.assertIn(f"do not pass through the governor: CC ({static})", text)
                self.assertLessEqual(max(summary["max_waiting"], summary["max_running"]), summary["jobs_capped_at"])
        del self.environment["MAX_JOBS"]

    def test_cargo_and_go_get_as_many_jobs_as_fit(self):
        """Neither rustc nor what the static program go starts waits for memory. 2 GiB for each, since none is known."""
        shown = ["sh", "-c", "echo $CARGO_BUILD_JOBS $GOMAXPROCS"]
        for limit, own, jobs in ((1 << 30, "", "1 1"), (5 << 30, "", "2 2"), (5 << 30, "8", "2 2"), (64 << 30, "", "8 8"), (64 << 30, "3", "3 3")):
            with self.subTest(limit=limit, own=own), mock.patch.dict(self.environment):
                self.environment |= {"CARGO_BUILD_JOBS": own, "GOMAXPROCS": own} if own else {}
                result, _ = self.governed(None, limit, shown, "--cores", "8", "--no-history")
                self.assertEqual(result.stdout.strip(), jobs, result.stderr)

    def test_a_larger_j_that_is_given_is_lowered_to_the_cap(self):
        self.environment["CC"] = f"{self.bin}/static {self.bin}/plain/gcc"
        for command in ("ninja -j8", "ninja -k0 -j 8", f"make -j8 CC={self.bin}/plain/gcc", "make -j", "make -j8 all -- s0.o"):
            with self.subTest(command):
                self.clean()
                self.write(6, "5 200 0")
                for log in self.folder.glob(".ninja_*"):
                    log.unlink()
                with self.watched(self.bin / "plain/gcc") as one, self.watched(self.bin / "cuda/bin/nvcc") as two:
                    result, summary = self.governed(None, 5 << 30, ["sh", "-c", command], "--cores", "8", "--no-history")
                self.assertEqual((result.returncode, self.objects(), summary["jobs_capped_at"]), (0, 6, 2), result.stderr)
                self.assertIn(max(one[0], two[0], summary["max_waiting"]), (1, 2))

    def test_the_cap_uses_the_largest_compile_that_is_known_of_this_build(self):
        self.write(3, "100 100 0")
        self.assertEqual(self.governed(None, LIMIT, ["ninja"])[0].returncode, 0)
        set_jobs, summary, text = self.counts(500 * MIB, CC=f"{self.bin}/static {self.bin}/plain/gcc")
        self.assertIn(int(set_jobs[0]), (3, 4))  # 490 MiB of room, 100 MiB and what a process needs
        self.assertIn("this build's largest known compile", text)
        self.assertEqual(summary["jobs_capped_at"], int(set_jobs[0]))

    def test_where_the_library_cannot_be_loaded_j_is_not_raised_and_the_summary_says_why(self):
        namespace = mount_namespace()
        if namespace is None:
            self.skipTest("no mount namespace can be made here")
        self.write(2, "2 1 0")
        (self.folder / "noexec").mkdir()
        private = Path(f"/tmp/wheelyard-{os.geteuid()}")
        private.mkdir(mode=0o700, exist_ok=True)
        script = (f'mount -t tmpfs -o noexec wheelyard noexec && mount -t tmpfs -o noexec,mode=700 wheelyard {private} && '
                  'TMPDIR=$PWD/noexec XDG_CACHE_HOME=$PWD/noexec "$0" --json summary.json --memory 5G --cores 8 --progress 0 -- '
                  f'sh -c "echo \\$MAX_JOBS; {self.bin}/plain/gcc -c s0.c -o s0.o"')
        result = self.run_in(None, [*namespace, "sh", "-c", script, GOVERNOR])
        self.assertEqual((result.returncode, result.stdout.split()[0]), (0, "2"), result.stderr)
        self.assertIn("No folder from which a library can be loaded", result.stderr)
        forms = {row["form"]: row["intercepted"] for row in self.summary()["forms"]}
        self.assertEqual((forms["by path"], forms["by name"]), (False, True))

    @unittest.skipUnless(os.geteuid() == 0, "only root can be two other users")
    def test_a_private_folder_prepared_by_another_user_names_nothing_to_remove(self):
        user = 70_000 + os.getpid()
        private, place = Path(f"/tmp/wheelyard-{user}"), Path(tempfile.mkdtemp(dir="/tmp"))
        files = place / "files"
        private.mkdir()
        for path in (private, place):
            self.addCleanup(shutil.rmtree, path)
        (files / "old").mkdir(parents=True)
        (private / "shims").symlink_to(files)
        for path in (files, files / "old"):
            os.chown(path, user, user)
        os.utime(files / "old", (0, 0))
        program = shutil.copy(GOVERNOR, place / "wheelyard-governor")
        place.chmod(0o755)
        result = subprocess.run([program, "--memory", "5G", "--cores", "2", "--", "true"], user=user, group=user, extra_groups=[],
                                env={"PATH": "/usr/bin:/bin"}, cwd="/", capture_output=True, text=True, timeout=CAP_S)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("cannot create shims: Another user can write this folder", result.stderr)
        self.assertTrue((files / "old").is_dir())

    def test_the_summary_names_the_largest_process_that_was_no_compile(self):
        (self.folder / "crate.rs").write_text(f"300 {1500 * SLOWER} 0")
        (self.folder / "s.c").write_text("20 5 0")
        # cargo starts rustc from a thread.
        code = f"import subprocess, threading\nt = threading.Thread(target=subprocess.run, args=(['{self.bin}/rustc', 'crate.rs'],))\nt.start()\nt.join()"
        for command in ([sys.executable, "-c", code], ["sh", "-c", f"{self.bin}/plain/gcc -c s.c -o s.o && {self.bin}/rustc crate.rs"]):
            result, summary = self.governed(None, LIMIT, command)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(summary["largest_ungoverned"]["program"], "rustc")
            self.assertGreater(summary["largest_ungoverned"]["peak_bytes"], 128 * MIB)


class Cancelled(PathsCase):
    def test_no_compile_survives_a_signal_to_the_governor_alone(self):
        self.write(3, "5 60000 0", "plain/gcc")
        compiler = f"{self.bin}/plain/gcc"
        each = f"{compiler} -c s$n.c -o s$n.o"
        stubborn = self.bin / "plain" / "icpx"  # ignores SIGTERM
        self.program(stubborn, f"#!/bin/sh\ntrap '' TERM\n{self.bin}/plain/gcc-12 \"$@\"\n")
        shutil.copy(self.hog, self.bin / "plain" / "gcc-12")
        builds = {"ninja": ["ninja", "-j3"], "make": ["make", "-j3", f"CC={compiler}"],
                  "shell": ["sh", "-c", f"for n in 0 1 2; do {each} & done; wait"],
                  "stubborn": ["sh", "-c", f"for n in 0 1 2; do {stubborn} -c s$n.c -o s$n.o & done; wait"],
                  "orphans": ["sh", "-c", f"trap 'exit 1' TERM; (for n in 0 1 2; do setsid {each} & done; wait) & wait"]}
        for name, command in builds.items():
            for number in (signal.SIGTERM, signal.SIGHUP)[:2 if name == "make" else 1]:
                with self.subTest(name, signal=number):
                    build = self.start(command, "--cores", "4", "--memory", "2G", "--no-history")
                    program = self.bin / ("plain/gcc-12" if name == "stubborn" else "plain/gcc")
                    self.wait_until(lambda: len(self.running(program)) == 3, "three compiles")
                    os.kill(build.pid, number)
                    build.wait(timeout=CAP_S)
                    self.assertEqual(self.running(program), [])
                    build.communicate()
                    self.assertEqual(self.objects(), 0)

    def test_nor_if_the_broker_is_gone(self):
        self.write(1, "5 60000 0")
        build = self.start(["sh", "-c", f"{self.bin}/plain/gcc -c s0.c -o s0.o; exit"])
        self.wait_until(lambda: self.running(self.bin / "plain/gcc"), "the compile")
        launcher = self.parent(self.running(self.bin / "plain/gcc")[0])
        os.kill(self.broker_of(build), signal.SIGKILL)
        os.kill(launcher, signal.SIGSTOP)  # so that the signal reaches nobody but the governor
        os.kill(build.pid, signal.SIGTERM)
        os.kill(launcher, signal.SIGCONT)
        build.communicate(timeout=CAP_S)
        self.wait_until(lambda: not self.running(self.bin / "plain/gcc"), "the end of the compile")


# What torch.utils.cpp_extension.BuildExtension does with setuptools: it writes a build.ninja with the paths of nvcc and of the
# host compiler, runs `ninja -v -j MAX_JOBS`, and lets setuptools link.
CPP_EXTENSION = '''
import os, subprocess
from setuptools import Extension
from setuptools.command.build_ext import build_ext

def CUDAExtension(name, sources):
    return Extension(name, sources)

class BuildExtension(build_ext):
    def build_extensions(self):
        self.compiler.src_extensions += [".cu"]
        def compile(sources, output_dir=None, **_):
            os.makedirs(output_dir, exist_ok=True)
            objects = [os.path.abspath(os.path.join(output_dir, os.path.splitext(each)[0] + ".o")) for each in sources]
            nvcc = os.environ.get("PYTORCH_NVCC") or os.path.join(os.environ["CUDA_HOME"], "bin", "nvcc")
            lines = ["ninja_required_version = 1.3", "cxx = " + os.environ.get("CXX", "c++"), "nvcc = " + nvcc,
                     "rule compile", "  command = $cxx -MMD -MF $out.d -fPIC -c $in -o $out", "  depfile = $out.d", "  deps = gcc",
                     "rule cuda_compile", "  command = $nvcc --generate-dependencies-with-compile --dependency-output $out.d "
                     "--compiler-options '-fPIC' -gencode=arch=compute_90,code=sm_90 -c $in -o $out"]
            for source, made in zip(sources, objects):
                rule = "cuda_compile" if source.endswith(".cu") else "compile"
                lines.append(f"build {made}: {rule} {os.path.abspath(source)}")
            with open(os.path.join(output_dir, "build.ninja"), "w") as file:
                file.write("\\n".join(lines) + "\\ndefault " + " ".join(objects) + "\\n")
            command = ["ninja", "-v"]
            if os.environ.get("MAX_JOBS", "").isdigit():
                command += ["-j", os.environ["MAX_JOBS"]]
            subprocess.run(command, cwd=output_dir, check=True)
            return objects
        self.compiler.compile = compile
        super().build_extensions()
'''


@unittest.skipUnless(shutil.which("ninja") and shutil.which("g++"), "no ninja, or no g++")
class CppExtension(PathsCase):
    def test_a_whole_build_of_a_cuda_extension_stays_in_its_memory(self):
        try:
            import setuptools  # noqa: F401
        except ImportError:
            self.skipTest("no setuptools")
        count = 6
        # It takes its memory, then has the host compiler make an object that can be linked.
        nvcc = self.folder / "cuda" / "bin" / "nvcc"
        self.program(nvcc, f'#!/bin/sh\n[ "$1" = --version ] && exit\nfor out; do :; done\ncase "$out" in *.o) ;; *) exit 3 ;; esac\n'
                           f'source=${{out##*/}}; {self.hog} -c "src/${{source%.o}}.cu" || {self.hog} -c "$SOURCES/${{source%.o}}.cu" || exit\n'
                           f'echo "static int x;" | /usr/bin/gcc -fPIC -x c -c -o "$out" -\n')
        source = self.folder / "src"
        (source / "torch" / "utils").mkdir(parents=True)
        (source / "torch" / "__init__.py").touch()
        (source / "torch" / "utils" / "__init__.py").touch()
        (source / "torch" / "utils" / "cpp_extension.py").write_text(CPP_EXTENSION)
        for number in range(count):
            (source / f"k{number}.cu").write_text(f"{EACH_MIB} {120 * SLOWER} 0")
        (source / "binding.cpp").write_text("#include <map>\nstd::map<int, int> nothing;\n")
        (source / "setup.py").write_text(
            "from setuptools import setup\nfrom torch.utils.cpp_extension import BuildExtension, CUDAExtension\n"
            f"setup(name='flash', version='1', ext_modules=[CUDAExtension('flash', ['binding.cpp'] + ['k%d.cu' % n for n in range({count})])],\n"
            "      cmdclass={'build_ext': BuildExtension})\n")
        self.environment |= {"CUDA_HOME": str(self.folder / "cuda"), "CXX": "/usr/bin/g++", "CC": "/usr/bin/gcc", "SOURCES": str(source)}
        with self.watched(self.hog) as most:
            result, summary = self.governed(None, LIMIT, ["sh", "-c", f"cd src && exec {sys.executable} setup.py build_ext --inplace"],
                                            "--cores", "16")
        text = result.stdout + result.stderr
        self.assertEqual(result.returncode, 0, text)
        self.assertEqual(len(list(source.glob("flash*.so"))), 1, text)
        self.assertEqual({row["form"]: row["intercepted"] for row in summary["forms"] if row["form"] in ("CC", "CXX", "CUDA_HOME", "by path")},
                         dict.fromkeys(["CC", "CXX", "CUDA_HOME", "by path"], True))
        # Each .cu once although nvcc calls gcc, the .cpp, and the link.
        self.assertEqual((summary["compiles"], summary["failed"], summary["killed"]), (count + 2, 0, 0), text)
        self.assertLessEqual(most[0], LIMIT // (EACH_MIB * MIB))
        self.assertIn("[7/7]", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
