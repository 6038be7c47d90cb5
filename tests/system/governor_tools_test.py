#!/usr/bin/env python3
"""Real build tools and compiler caches under wheelyard-governor: ninja and its queries, make and its
jobserver, ccache, sccache.
"""

import contextlib
import os
import shutil
import signal
import unittest
from pathlib import Path

from support.governed import CAP_S, GOVERNOR, SANITIZED, GovernedCase
from support.ports import free_port

# Long enough for a queue to form behind it; on a busy machine and with a sanitizer launchers start slowly.
SLOW_MS = 500 if SANITIZED else 120


class ToolsCase(GovernedCase):
    def both(self, command: list) -> tuple:
        """(exit code, stdout, stderr) of a plain run and of a governed one."""
        runs = [self.run_in(None, command), self.run_in(None, [GOVERNOR, "--quiet", "--", *command])]
        return tuple((run.returncode, run.stdout, run.stderr) for run in runs)

    def history(self) -> list[list[str]]:
        return [line.split("\t") for line in (self.folder / "h").read_text().splitlines()[1:]]

    def masquerade(self, tool: str, compilers: dict) -> None:
        """A stand-in for distcc or icecc on PATH, which logs its compiles in `sent`, and `masks`, its
        masquerade folder.
        """
        self.masks, self.sent = self.folder / f"masks-of-{tool}", self.folder / "sent"
        self.masks.mkdir()
        behind = "".join(f"  */{name}) set -- {program} \"$@\" ;;\n" for name, program in compilers.items())
        self.tool(tool, f'#!/bin/sh\n[ "$1" = --version ] && echo "{tool} 3.4" && exit\ncase "$0" in\n{behind}esac\n'
                        f'case " $* " in *" -c "*) echo "$*" >> {self.sent} ;; esac\nexec "$@"\n')
        for name in compilers:
            (self.masks / name).symlink_to(self.folder / "tools" / tool)


class Ninja(ToolsCase):
    def test_its_tools_and_queries_answer_as_without_a_governor(self):
        self.sources(["1 1 0"] * 3)
        self.run_in(None, ["ninja"], check=True)
        for question in ("-t commands", "-tcompdb cc", "-t query s0.o", "-t targets all", "-t list", "-vt rules", "-C . -t deps",
                         "--version", "-h", "--help", "-n", "-t cleandead", "-t no-such-tool"):
            with self.subTest(question):
                plain, governed = self.both(["ninja", *question.split()])
                self.assertEqual(governed, plain)
        plain, governed = self.both(["ninja", "-t", "clean"])
        self.assertEqual((plain[0], governed[0], self.objects()), (0, 0, 0))

    def test_a_build_gets_the_window_unless_a_j_is_given(self):
        for options, max_waiting in ((["-C", "."], None), (["-vj", "3"], 3)):
            with self.subTest(options=options):
                self.clean()
                self.sources([f"1 {SLOW_MS} 0"] * 12)
                for log in self.folder.glob(".ninja_*"):
                    log.unlink()
                result, summary = self.governed(None, 1 << 30, ["ninja", *options], "--cores", "1")
                self.assertEqual((result.returncode, self.objects()), (0, 12), result.stdout)
                self.assertGreater(summary["max_waiting"], 0)
                if max_waiting:
                    self.assertLessEqual(summary["max_waiting"], max_waiting)
                else:
                    self.assertGreater(summary["max_waiting"], 4)


class Make(ToolsCase):
    def setUp(self):
        super().setUp()
        self.tool("cc", f'#!/bin/sh\nexec {self.hog} "$@"\n')

    def makefile(self, folder: str, count: int, row: str = f"1 {SLOW_MS} 0") -> None:
        """A folder whose `make` compiles `count` sources."""
        where = self.folder / folder
        where.mkdir(exist_ok=True)
        names = " ".join(f"s{number}.o" for number in range(count))
        (where / "Makefile").write_text(f"all: {names}\n%.o: %.c\n\tcc -c $< -o $@\n")
        for number in range(count):
            (where / f"s{number}.c").write_text(row)

    def built(self) -> int:
        return len(list(self.folder.rglob("s*.o")))

    def wipe(self) -> None:
        for path in self.folder.rglob("s*.o"):
            path.unlink()

    def test_more_compiles_wait_than_cores_without_a_j(self):
        self.makefile(".", 16)
        for command in (["make"], ["gmake", "-C", "."], ["python3", "-c", "import subprocess; subprocess.check_call(['make'])"],
                        ["make", "-k", "all"]):
            with self.subTest(command=command):
                self.wipe()
                result, summary = self.governed(None, 1 << 30, command, "--cores", "2")
                self.assertEqual((result.returncode, self.built(), summary["compiles"]), (0, 16, 16), result.stderr)
                self.assertGreater(summary["max_waiting"], 4)
                self.assertEqual(summary["max_running"], 2)

    def test_a_j_in_the_arguments_or_makeflags_is_kept(self):
        self.makefile(".", 8, "1 5 0")
        for options, flags, max_waiting in ((["-j1"], "", 1), (["-kj", "2"], "", 2), (["--jobs=2"], "", 2), ([], "-j1", 1), ([], "kj2", 2)):
            with self.subTest(options=options, flags=flags):
                self.wipe()
                self.environment["MAKEFLAGS"] = flags
                result, summary = self.governed(None, 1 << 30, ["make", *options], "--cores", "1")
                self.assertEqual((result.returncode, self.built()), (0, 8), result.stderr)
                self.assertLessEqual(summary["max_waiting"], max_waiting)

    def test_several_goals_are_made_one_after_the_other(self):
        (self.folder / "Makefile").write_text(
            "all: s0.o\n\ttest ! -e cleaning\n%.o: %.c\n\tcc -c $< -o $@\n"
            "clean:\n\ttouch cleaning\n\tsleep 0.5\n\trm -f s*.o cleaning\n.PHONY: all clean\n")
        (self.folder / "s0.c").write_text("1 1 0")
        for command in (["make", "clean", "all"], ["make", "clean", "CC=cc", "all"]):
            with self.subTest(command=command):
                result, _ = self.governed(None, 1 << 30, command, "--cores", "2")
                self.assertEqual((result.returncode, self.built()), (0, 1), result.stdout + result.stderr)

    def test_recursive_makes_share_the_jobserver_without_warnings(self):
        (self.folder / "Makefile").write_text(
            "all: shared plus plain\nshared:\n\t$(MAKE) -C a\nplus:\n\t+make -C b\n"
            "plain:\n\tmake -C c\n\tsh -c 'make -C d'\n.PHONY: all shared plus plain\n")
        for folder in "abcd":
            self.makefile(folder, 8)
        for command in (["make"], ["make", "--no-print-directory", "CC=cc -j9"]):
            with self.subTest(command=command):
                self.wipe()
                result, summary = self.governed(None, 1 << 30, command, "--cores", "2")
                text = result.stdout + result.stderr
                self.assertEqual((result.returncode, self.built(), summary["compiles"]), (0, 32, 32), text)
                self.assertGreater(summary["max_waiting"], 4)
                self.assertNotIn("jobserver", text)
                self.assertNotIn("warning", text)

    def test_makes_failure_output_and_exit_code_pass_through(self):
        self.makefile(".", 1, "1 1 7")
        plain, governed = self.both(["make", "-B"])
        self.assertEqual(plain[0], 2)
        self.assertIn("Error 7", plain[2])
        self.assertEqual(governed, plain)
        for question in ("--version", "-n", "-q", "no-such-target", "-h"):
            with self.subTest(question):
                plain, governed = self.both(["make", *question.split()])
                self.assertEqual(governed, plain)

    @unittest.skipUnless(shutil.which("cmake"), "no CMake")
    def test_cmakes_unix_makefiles_keep_enough_compiles_ready(self):
        (self.folder / "tools/cc").unlink()
        sources = [f"x{number}.c" for number in range(12)]
        for source in sources:
            (self.folder / source).write_text(f"int {source[:-2]}(void) {{ return 0; }}\n")
        (self.folder / "CMakeLists.txt").write_text(
            f"cmake_minimum_required(VERSION 3.21)\nproject(x C)\nadd_library(x STATIC {' '.join(sources)})\n")
        configure = [GOVERNOR, "--quiet", "--", "cmake", "-G", "Unix Makefiles", "-S", ".", "-B", "b"]
        self.assertEqual(self.run_in(None, configure).returncode, 0)
        for command in (["cmake", "--build", "b"], ["make", "-C", "b"]):
            with self.subTest(command=command):
                result, summary = self.governed(None, 1 << 30, command, "--cores", "1")
                text = result.stdout + result.stderr
                self.assertEqual(result.returncode, 0, text)
                self.assertGreaterEqual(summary["compiles"], 12)
                if not SANITIZED:  # these compiles are real and short
                    self.assertGreater(summary["max_waiting"], 2)
                self.assertNotIn("jobserver", text)
                self.run_in(None, ["cmake", "--build", "b", "--target", "clean"], check=True)


@unittest.skipUnless(shutil.which("ccache") and shutil.which("g++"), "no ccache, or no g++")
class Ccache(ToolsCase):
    def setUp(self):
        super().setUp()
        for name in [name for name in self.environment if name.startswith("CCACHE_")]:
            del self.environment[name]
        self.environment |= {"CCACHE_DIR": str(self.folder / "cc"), "CCACHE_TEMPDIR": str(self.folder / "cctmp"),
                             "CCACHE_CONFIGPATH": str(self.folder / "ccache.conf")}
        self.write("a")

    def tearDown(self):
        left = [path for path in (self.folder / "cctmp").rglob("*") if path.is_file()]
        self.assertEqual(left, [])  # ccache removes its files when it is ended at a miss

    def write(self, name: str, more: str = "") -> None:
        (self.folder / f"{name}.cpp").write_text(
            f"#include <map>\n#include <string>\nstd::map<std::string, int> {name}() {{ return {{}}; }}\n{more}")

    def compile(self, command: str = "ccache g++", history: str = "h") -> tuple[int, int]:
        """Compiles a.cpp under the governor: (compiles, hits)."""
        (self.folder / "a.o").unlink(missing_ok=True)
        result, summary = self.governed(None, 1 << 32, ["sh", "-c", f"{command} -c a.cpp -o a.o"], "--history", history)
        self.assertEqual((result.returncode, (self.folder / "a.o").exists()), (0, True), result.stderr)
        return summary["compiles"], summary["cache_hits"]

    def counted(self) -> dict[str, int]:
        """ccache's statistics of hits and misses."""
        text = self.run_in(None, ["ccache", "--print-stats"], check=True).stdout
        rows = dict(line.split() for line in text.splitlines())
        return {name: int(rows[name]) for name in ("direct_cache_hit", "preprocessed_cache_hit", "cache_miss",
                                                   "preprocessor_error", "compile_failed")}

    def remembered(self, language: str = "c++") -> dict[str, tuple[int, int]]:
        """For each source of that language in the history: peak in KiB, runs."""
        return {row[9]: (int(row[1]), int(row[4])) for row in self.history() if row[6] == language}

    def test_three_builds_with_cmakes_launcher_all_misses_all_hits_and_half(self):
        names = [f"part{number}" for number in range(6)]
        for name in names:
            self.write(name)
        (self.folder / "main.cpp").write_text("int main() {}\n")
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.21)\nproject(x CXX)\nadd_executable(x main.cpp "
            f"{' '.join(name + '.cpp' for name in names)})\n")
        self.environment["CMAKE_CXX_COMPILER_LAUNCHER"] = "ccache"
        configure = [GOVERNOR, "--quiet", "--no-history", "--", "cmake", "-G", "Ninja", "-S", ".", "-B", "b"]
        result = self.run_in(None, configure)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.run_in(None, ["ccache", "--zero-stats"], check=True)
        reported, known = [], []
        for build in range(3):
            if build == 2:
                for name in names[:3]:
                    self.write(name, f"int more_{name}() {{ return 1; }}\n")
            self.run_in(None, ["ninja", "-C", "b", "-t", "clean"], check=True)
            result, summary = self.governed(None, 1 << 33, ["ninja", "-C", "b"], "--history", "h")
            self.assertEqual((result.returncode, summary["failed"]), (0, 0), result.stdout)
            reported.append((summary["compiles"], summary["cache_hits"]))
            known.append(self.remembered())
        # A link counts as a compile and is never cached.
        self.assertEqual(reported, [(8, 0), (1, 7), (4, 4)])
        self.assertEqual(known[1], known[0])
        for name in names:
            (before, _), (after, runs) = known[0][f"{name}.cpp"], known[2][f"{name}.cpp"]
            # The peak is a front end's, not ccache's; which other processes it includes varies.
            self.assertGreater(min(before, after), 30 << 10)
            self.assertEqual(runs, 2 if name in names[:3] else 1)
        counted = self.counted()
        self.assertEqual((counted["cache_miss"], counted["direct_cache_hit"]), (10, 11))
        self.assertEqual((counted["preprocessor_error"], counted["compile_failed"]), (0, 0))

    def test_a_hit_waits_for_no_compile(self):
        self.assertEqual(self.compile(), (1, 0))
        (self.folder / "a.o").unlink()
        (self.folder / "s0.c").write_text("5 40000 0")
        build = self.start(["sh", "-c", f"{GOVERNOR} launch -- {self.hog} -c s0.c & until [ -e go ]; do sleep 0.02; done; "
                            "ccache g++ -c a.cpp -o a.o; touch answered; wait"], "--cores", "1")
        try:
            hogs = self.wait_until(lambda: self.hogs_of(build.pid, "s0.c"), "the long compile")
            (self.folder / "go").touch()
            self.wait_until(lambda: (self.folder / "answered").exists(), "the hit")
            self.assertTrue((self.folder / "a.o").exists())
            self.assertFalse(self.is_gone(hogs[0]))
        finally:
            os.killpg(build.pid, signal.SIGTERM)
            build.communicate(timeout=CAP_S)

    def test_a_waiting_miss_compiles_although_the_governors_folder_was_removed(self):
        self.environment["TMPDIR"] = str(self.folder)
        (self.folder / "s0.c").write_text("5 40000 0")
        build = self.start(["sh", "-c", f"{GOVERNOR} launch -- {self.hog} -c s0.c & until [ -e go ]; do sleep 0.02; done; "
                            "ccache g++ -c a.cpp -o a.o; echo $? > ended; wait"], "--cores", "1")
        try:
            hogs = self.wait_until(lambda: self.hogs_of(build.pid, "s0.c"), "the long compile")
            (self.folder / "go").touch()
            link = self.wait_until(lambda: list(self.folder.glob("wheelyard-governor-*/wheelyard-governor-cache-miss")), "the link")[0]
            self.wait_until(lambda: self.asking(build.pid, "ccache"), "the miss to ask the broker")
            shutil.rmtree(link.parent)
            os.kill(hogs[0], signal.SIGTERM)
            self.wait_until(lambda: (self.folder / "ended").exists() and (self.folder / "ended").read_text(), "the miss")
            self.assertEqual((self.folder / "ended").read_text(), "0\n")
            self.assertTrue((self.folder / "a.o").exists())
        finally:
            os.killpg(build.pid, signal.SIGTERM)
            build.communicate(timeout=CAP_S)

    def test_ccache_and_its_statistics_are_the_same_with_and_without_a_governor(self):
        plain = ["ccache", "g++", "-c", "a.cpp", "-o", "a.o"]
        self.run_in(None, plain, check=True)
        self.assertEqual(self.compile("ccache g++"), (0, 1))
        self.assertEqual(self.compile(f"{GOVERNOR} launch -- ccache g++"), (0, 1))
        self.write("a", "int b;\n")
        self.assertEqual(self.compile("ccache g++"), (1, 0))
        self.run_in(None, plain, check=True)
        counted = self.counted()
        self.assertEqual((counted["cache_miss"], counted["direct_cache_hit"]), (2, 3))
        self.assertEqual(counted["preprocessor_error"], 0)

    def test_ccaches_masquerade_folder_is_recognised(self):
        folder = self.folder / "masquerade"
        folder.mkdir()
        (folder / "g++").symlink_to(shutil.which("ccache"))
        self.environment["PATH"] = f"{folder}:{self.environment['PATH']}"
        self.assertEqual([self.compile("g++"), self.compile("g++"), self.compile("ccache g++")], [(1, 0), (0, 1), (0, 1)])
        self.assertEqual(self.counted()["cache_miss"], 1)
        self.assertEqual(self.remembered()["a.cpp"][1], 1)

    def test_a_preprocessed_hit_is_not_measured(self):
        self.environment["CCACHE_NODIRECT"] = "1"
        self.assertEqual([self.compile(), self.compile()], [(1, 0), (0, 1)])
        self.assertEqual(self.remembered()["a.cpp"][1], 1)

    def test_the_users_prefix_is_kept_and_runs_only_at_misses(self):
        self.tool("prefix", f'#!/bin/sh\necho "$1" >> {self.folder}/seen\nexec "$@"\n')
        for way in ("environment", "configuration"):
            with self.subTest(way):
                if way == "environment":
                    self.environment["CCACHE_PREFIX"] = "prefix"
                else:
                    del self.environment["CCACHE_PREFIX"]
                    (self.folder / "ccache.conf").write_text("prefix_command = prefix\n")
                (self.folder / "seen").unlink(missing_ok=True)
                self.write("a", f"int of_{way};\n")
                self.assertEqual([self.compile(), self.compile()], [(1, 0), (0, 1)])
                self.assertEqual(len((self.folder / "seen").read_text().splitlines()), 1)

    def test_a_miss_that_distcc_compiles_is_recorded_as_distributed(self):
        self.masquerade("distcc", {"g++": shutil.which("g++")})
        caches = self.folder / "caches"
        caches.mkdir()
        (caches / "g++").symlink_to(shutil.which("ccache"))
        plain = self.environment["PATH"]
        self.compile()
        [shims] = (self.folder / "cache/wheelyard/governor/shims").iterdir()  # of an earlier build
        ways = {"its prefix": ("ccache g++", [], {"CCACHE_PREFIX": "distcc"}),
                "its masquerade, and its prefix": ("g++", [caches], {"CCACHE_PREFIX": "distcc"}),
                "distcc's masquerade behind it": ("ccache g++", [self.masks], {}),
                "both masquerades": ("g++", [caches, self.masks], {}),
                "CMake's call of a compiler that it found": (f"{GOVERNOR} launch -- ccache {shims}/g++", [self.masks], {}),
                "distcc after it": ("ccache distcc g++", [], {})}
        for way, (command, folders, more) in ways.items():
            with self.subTest(way):
                self.environment |= {"PATH": ":".join([*map(str, folders), plain])} | more
                self.write("a", f"int of_way_{len(way)};\n")
                (self.folder / "h").unlink(missing_ok=True)
                self.sent.unlink(missing_ok=True)
                self.assertEqual([self.compile(command), self.compile(command)], [(1, 0), (0, 1)])
                self.assertEqual(len(self.sent.read_text().splitlines()), 1)  # distributed, as without a governor
                self.assertEqual((self.remembered()), {})
                self.assertEqual(self.remembered("distributed")["a.cpp"][1], 1)
                self.environment.pop("CCACHE_PREFIX", None)

    def test_a_distributed_compile_is_recorded_also_if_the_cache_cannot_be_looked_up(self):
        self.masquerade("distcc", {"g++": shutil.which("g++")})
        spaced = self.folder / "not for a prefix"
        spaced.mkdir()
        self.environment |= {"CCACHE_PREFIX": "distcc", "TMPDIR": str(spaced)}
        self.compile()
        self.assertEqual(len(self.sent.read_text().splitlines()), 1)
        self.assertEqual(self.remembered(), {})
        self.assertEqual(self.remembered("distributed")["a.cpp"][1], 1)

    def test_diagnostics_appear_once_and_cached_warnings_are_repeated(self):
        self.write("a", "int unused() { int x; return 0; }\n")
        for _ in ("miss", "hit"):
            result, summary = self.governed(None, 1 << 32, ["ccache", "g++", "-Wall", "-c", "a.cpp", "-o", "a.o"])
            self.assertEqual(result.returncode, 0)
            self.assertEqual(result.stderr.count("unused variable"), 1, result.stderr)
        self.assertEqual(summary["cache_hits"], 1)
        self.write("a", "int broken(\n")
        result, summary = self.governed(None, 1 << 32, ["ccache", "g++", "-c", "a.cpp", "-o", "a.o"])
        self.assertEqual((result.returncode, summary["failed"]), (1, 1))
        self.assertEqual(result.stderr.count("error: expected"), 1, result.stderr)
        for words in ("--version", "-s", "--get-config max_size"):
            plain, governed = self.both(["ccache", *words.split()])
            self.assertEqual(governed, plain)

    def test_a_disabled_cache_compiles_once_and_governed(self):
        self.environment["CCACHE_DISABLE"] = "1"
        self.tool("prefix", f'#!/bin/sh\necho "$1" >> {self.folder}/seen\nexec "$@"\n')
        self.environment["CCACHE_PREFIX"] = "prefix"
        self.assertEqual([self.compile(), self.compile()], [(1, 0), (1, 0)])
        self.assertEqual(len((self.folder / "seen").read_text().splitlines()), 2)


@unittest.skipUnless(shutil.which("sccache") and shutil.which("g++"), "no sccache, or no g++")
class Sccache(ToolsCase):
    def test_its_compiles_build_and_its_servers_work_is_not_measured(self):
        self.environment |= {"SCCACHE_DIR": str(self.folder / "sccache"), "SCCACHE_SERVER_PORT": str(free_port())}
        (self.folder / "a.cpp").write_text("#include <map>\nstd::map<int, int> a;\n")
        self.run_in(None, ["sccache", "--start-server"], check=True)
        try:
            for _ in ("miss", "hit"):
                (self.folder / "a.o").unlink(missing_ok=True)
                result, summary = self.governed(None, 1 << 32, ["sccache", "g++", "-c", "a.cpp", "-o", "a.o"], "--history", "h")
                self.assertEqual((result.returncode, (self.folder / "a.o").exists()), (0, True), result.stderr)
                self.assertEqual((summary["compiles"], summary["worst"]), (1, []))
            stats = self.run_in(None, ["sccache", "--show-stats"], check=True).stdout
            hits = next(line.split()[-1] for line in stats.splitlines() if line.startswith("Cache hits"))
            self.assertEqual(hits, "1", stats)
            with contextlib.suppress(FileNotFoundError):
                self.assertNotIn("a.cpp", Path(self.folder / "h").read_text())
        finally:
            self.run_in(None, ["sccache", "--stop-server"])


class Distributors(ToolsCase):
    def test_a_distributors_masquerade_folder_is_recognised(self):
        (self.folder / "a.c").write_text("3 5 0")
        plain = self.environment["PATH"]
        for tool in ("distcc", "icecc"):
            self.environment["PATH"] = plain
            self.masquerade(tool, {"gcc": self.hog})
            # Found by a script on PATH, or by CMake, which then passes the path.
            for command, known in ((["sh", "-c", "gcc -c a.c -o a.o"], 0),
                                   ([GOVERNOR, "launch", "--", self.masks / "gcc", "-c", "a.c", "-o", "a.o"], 1)):
                self.environment["PATH"] = f"{self.masks}:{plain}"
                result, summary = self.governed(None, 1 << 32, command, "--history", "h")
                self.assertEqual((result.returncode, summary["compiles"], summary["known"]), (0, 1, known), result.stderr)
        self.assertEqual(sorted((row[6], row[7].split("%")[0], row[4]) for row in self.history()),
                         [("distributed", "distcc", "2"), ("distributed", "icecc", "2")])
        self.assertEqual(len(self.sent.read_text().splitlines()), 4)

    def test_a_distributed_compile_is_recorded_with_its_local_memory(self):
        compile = f"{self.hog} -c a.c -o a.o"
        # A local compile of the same source is a different compile, with different memory.
        (self.folder / "a.c").write_text("120 5 0")
        self.assertEqual(self.governed(None, 1 << 32, [GOVERNOR, "launch", "--", *compile.split()], "--history", "h")[0].returncode, 0)
        (self.folder / "a.c").write_text("3 5 0")
        for tool in ("distcc", "icecc"):
            self.tool(tool, '#!/bin/sh\n[ "$1" = --version ] && echo "$(basename $0) 3.4" && exit\nexec "$@"\n')
            for known in (0, 1):
                result, summary = self.governed(None, 1 << 32, [tool, *compile.split()], "--history", "h")
                self.assertEqual((result.returncode, summary["compiles"], summary["known"]), (0, 1, known), result.stderr)
                self.assertLess(summary["worst"][0]["peak_bytes"], 32 << 20)
        self.assertEqual(sorted((row[6], row[7].split("%")[0]) for row in self.history()),
                         [("c", "hog"), ("distributed", "distcc"), ("distributed", "icecc")])


if __name__ == "__main__":
    unittest.main(verbosity=2)
