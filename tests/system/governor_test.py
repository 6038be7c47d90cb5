#!/usr/bin/env python3
"""Builds under wheelyard-governor: what reaches the compiler and comes back, crashes, history, costs."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path

from support.full import IS_FULL
from support.governed import CAP_S, GOVERNOR, MIB, GovernedCase, memory_group, mount_namespace


class Governor(GovernedCase):
    def test_exit_codes_and_both_streams_pass_through(self):
        self.sources(["1 1 7"])
        result = self.run_in(None, [GOVERNOR, "--quiet", "--", GOVERNOR, "launch", "--", self.hog, "-c", "s0.c"])
        self.assertEqual((result.returncode, result.stdout, result.stderr), (7, "out of s0.c\n", "err of s0.c\n"))

    def test_a_real_crash_fails_with_its_signal_and_is_not_retried(self):
        self.sources([f"1 1 {1000 + signal.SIGSEGV}"])
        result, summary = self.governed(None, 1 << 30, [GOVERNOR, "launch", "--", self.hog, "-c", "s0.c"], "--quiet")
        self.assertEqual(result.returncode, -signal.SIGSEGV)
        self.assertEqual((summary["failed"], summary["unexplained"]), (1, 0))

    def test_sigkill_without_pressure_is_retried_once_alone_and_then_fails(self):
        self.sources([f"1 1 {1000 + signal.SIGKILL}"])
        result, summary = self.governed(None, 1 << 30, [GOVERNOR, "launch", "--", self.hog, "-c", "s0.c"])
        self.assertEqual(result.returncode, -signal.SIGKILL)
        self.assertEqual((summary["failed"], summary["unexplained"]), (1, 1))

    def test_spaces_and_response_files_reach_the_compiler_unchanged(self):
        (self.folder / "a b.c").write_text("int f(void) { return 1; }\n")
        (self.folder / "words.rsp").write_text('-c "a b.c" -DX="1 2" -o "a b.o"\n')
        result, summary = self.governed(None, 1 << 30, ["cc", "@words.rsp"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "a b.o").exists())
        self.assertEqual([row["source"] for row in summary["worst"]], ["a b.c"])

    def test_a_killed_broker_does_not_stop_the_build(self):
        self.sources(["5 500 0"] * 12)  # so that the last ten still run when two are seen
        build = self.start(["ninja", "-j8"], "--cores", "2")
        self.wait_until(lambda: self.objects() >= 2, "two objects")
        broker = [pid for pid in self.children(build.pid, "wheelyard-governor") if self.parent(pid) == build.pid]
        self.assertEqual(len(broker), 1)
        os.kill(broker[0], signal.SIGKILL)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual(build.returncode, 0, text)
        self.assertEqual(self.objects(), 12)
        self.assertIn("the broker was killed", text)

    def test_a_killed_launcher_frees_its_reservation_and_its_compiler_ends(self):
        self.sources(["5 20000 0", "5 10 0", "5 10 0"])
        build = self.start(["ninja", "-k0", "-j8"], "--cores", "1")
        hog = self.wait_until(lambda: self.hogs_of(build.pid, "s0.c"), "the long compile")[0]
        os.kill(self.parent(hog), signal.SIGKILL)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual(build.returncode, 1, text)
        self.assertEqual(self.objects(), 2, text)
        self.wait_until(lambda: not Path(f"/proc/{hog}").exists(), "the orphaned compiler's end")
        self.assertEqual(self.summary()["lost"], 1)

    def test_sigterm_ends_build_and_compilers_and_the_rest_builds_later(self):
        self.sources(["5 10 0"] * 3 + ["5 20000 0"])
        build = self.start(["ninja", "-j8"], "--cores", "4")
        # Ninja logs an output after it exists; an output that is not logged yet would be built again.
        self.wait_until(lambda: self.logged_outputs() == 3, "the three short compiles")
        hogs = self.wait_until(lambda: self.children(build.pid, "hog"), "the long compile")
        os.kill(build.pid, signal.SIGTERM)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertNotEqual(build.returncode, 0, text)
        self.wait_until(lambda: not Path(f"/proc/{hogs[0]}").exists(), "the compiler's end")
        self.assertFalse((self.folder / "s3.o").exists())
        (self.folder / "s3.c").write_text("5 10 0")
        result, summary = self.governed(None, 1 << 30, ["ninja", "-j8"])
        self.assertEqual((result.returncode, self.objects()), (0, 4), result.stdout)
        self.assertEqual(summary["compiles"], 1)

    def test_after_sigterm_to_the_governor_alone_no_waiting_compile_starts(self):
        # The shell ends by the signal; ninja, which gets no signal, goes on and starts further launchers.
        self.sources(["5 20000 0"] * 12)  # whichever comes first is still there at the end
        build = self.start(["sh", "-c", "ninja -k0 -j4; true"], "--cores", "1", "--window", "8")
        first = self.wait_until(lambda: self.hogs_of(build.pid, ".c"), "the first compile")[0]  # not the broker's --version
        self.wait_until(lambda: len(self.waiting_launchers(build.pid)) == 3, "three waiting launchers")
        waiting = self.waiting_launchers(build.pid)
        os.kill(build.pid, signal.SIGTERM)
        for pid in waiting:
            self.wait_until(lambda: self.is_gone(pid), "the end of a waiting launcher")
        with contextlib.suppress(ProcessLookupError):  # it may have ended with the broker
            os.kill(first, signal.SIGTERM)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual(build.returncode, -signal.SIGTERM, text)
        self.assertEqual(self.objects(), 0, text)

    def waiting_launchers(self, pid: int) -> list[int]:
        return [one for one in self.children(pid, "wheelyard-governor")
                if self.parent(one) != pid and not self.children(one, "hog")]

    def test_a_missing_temporary_folder_does_not_stop_the_build(self):
        self.sources(["2 2 0"])
        self.environment["TMPDIR"] = "/no/such/folder"
        result, summary = self.governed(None, 1 << 30, ["ninja"])
        self.assertEqual((result.returncode, self.objects(), summary["compiles"]), (0, 1, 1), result.stderr)

    def test_a_limit_on_the_size_of_files_reaches_only_those_of_the_compiler(self):
        """The same result as without a governor, for a compiler that writes no file and for one that does."""
        compilers = Path(self.folder, "bin")
        compilers.mkdir()
        self.program(compilers / "gcc", "#!/bin/sh\ntest -z \"$WRITE\" || echo object > a.o\necho out; echo err >&2\nexit 3\n")
        self.environment["PATH"] = f"{compilers}:{self.environment['PATH']}"
        for write in ("", "yes"):
            with self.subTest(write):
                self.environment["WRITE"] = write
                alone, governed = (self.run_in(None, ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *before, "gcc", "-c", "a.c"])
                                   for before in ([], [GOVERNOR, "--quiet", "--"]))
                self.assertEqual((governed.returncode, governed.stdout, governed.stderr),
                                 (alone.returncode, alone.stdout, alone.stderr))
                self.assertEqual(alone.returncode == 3, not write)

    def test_a_build_that_a_signal_ends_ends_the_governor_by_the_same_signal(self):
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number):
                result = self.run_in(None, [GOVERNOR, "--quiet", "--", "sh", "-c", f"kill -{int(number)} $$"])
                self.assertEqual(result.returncode, -number)

    def test_much_output_of_a_compiler_takes_no_memory(self):
        size = 300 * MIB
        self.program(self.folder / "gcc", f"#!/bin/sh\nhead -c {size} /dev/zero >&2\n")
        command = f"{GOVERNOR} --quiet --no-history -- {GOVERNOR} launch -- ./gcc -c a.c 2>&1 | cksum"
        with memory_group(100 * MIB) as group:
            if group is None:
                self.skipTest("without a cgroup nothing measures it")
            result = self.run_in(group, ["bash", "-c", f"set -o pipefail; {command}"])
        expected = self.run_in(None, ["sh", "-c", f"head -c {size} /dev/zero | cksum"])
        self.assertEqual((result.returncode, result.stdout), (0, expected.stdout), result.stderr)

    def test_a_forked_child_of_a_compiler_does_not_keep_the_compile_running(self):
        self.sources(["5 10 0 fork"])  # the child would outlast the timeout
        result, summary = self.governed(None, 1 << 30, [GOVERNOR, "launch", "--", self.hog, "-c", "s0.c"])
        self.assertEqual((result.returncode, summary["compiles"]), (0, 1))

    def test_a_malformed_history_is_renamed_and_the_build_runs(self):
        (self.folder / "history").write_bytes(b"\x00garbage\n" * 100)
        self.sources(["2 2 0"])
        result, summary = self.governed(None, 1 << 30, ["ninja", "-j2"], "--history", "history")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("it was renamed", result.stderr)
        self.assertTrue((self.folder / "history.broken").exists())
        shown = self.run_in(None, [GOVERNOR, "history", "show", "--history", "history"])
        self.assertIn("s0.c", shown.stdout)

    def test_a_full_disk_loses_the_history_and_the_requested_files_but_not_the_build(self):
        namespace = mount_namespace()
        if namespace is None:
            self.skipTest("no mount namespace can be made here")
        disk = self.folder / "disk"
        disk.mkdir()
        self.sources(["2 2 0"] * 2)
        # There is space for the socket's folder but not for a history; the file of an earlier build stays
        # complete.
        script = ('mount -t tmpfs -o size=64k wheelyard disk && echo kept > disk/kept.json && '
                  '{ head -c 100000 /dev/zero > disk/filled 2>/dev/null; df --output=avail disk | grep -qx " *0"; } && '
                  '"$0" --history disk/history --json disk/kept.json --trace disk/trace.json --progress 0 -- ninja -j2; '
                  'echo "build: $?"; cat disk/kept.json; ls -A disk')
        result = self.run_in(None, [*namespace, "sh", "-c", script, GOVERNOR])
        text = result.stdout + result.stderr
        self.assertIn("build: 0\nkept\nfilled\nkept.json\n", text)
        self.assertEqual(self.objects(), 2, text)
        self.assertIn("the history cannot be written", text)
        self.assertIn("No space left", text)

    def test_a_cmake_build_is_governed_links_included(self):
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.21)\nproject(x C)\nadd_executable(x x.c y.c)\n")
        (self.folder / "x.c").write_text("int y(void);\nint main(void) { return y(); }\n")
        (self.folder / "y.c").write_text("int y(void) { return 0; }\n")
        result, _ = self.governed(None, 1 << 30, ["sh", "-c", "cmake -G Ninja -S . -B b && cmake --build b"])
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        shown = self.run_in(None, [GOVERNOR, "history", "show"]).stdout
        for line in ("c        x.c", "c        y.c", "link     x"):
            self.assertIn(line, shown)

    def test_make_and_scripts_are_governed_by_the_shims_on_path(self):
        (self.folder / "Makefile").write_text("all: a.o b.o\n%.o: %.c\n\tcc -c $< -o $@\n")
        for name in "ab":
            (self.folder / f"{name}.c").write_text("int x;\n")
        result, summary = self.governed(None, 1 << 30, ["make", "-j4"])
        self.assertEqual((result.returncode, summary["compiles"]), (0, 2), result.stderr)
        # Outside a governed build a shim only runs the real program.
        [link] = self.folder.glob("cache/wheelyard/governor/shims/*/cc")
        self.assertTrue(link.is_symlink())
        self.clean()
        self.assertEqual(self.run_in(None, [link, "-c", "a.c"]).returncode, 0)
        self.assertTrue((self.folder / "a.o").exists())

    def test_a_compiler_that_calls_a_compiler_is_one_compile(self):
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "nvcc").write_text("#!/bin/sh\nexec cc -x c -c k.cu -o k.o\n")
        (tools / "nvcc").chmod(0o755)
        (self.folder / "k.cu").write_text("int x;\n")
        self.environment["PATH"] = f"{tools}:{self.environment['PATH']}"
        result, summary = self.governed(None, 1 << 30, ["nvcc", "-c", "k.cu", "-o", "k.o"], "--cores", "1")
        self.assertEqual((result.returncode, summary["compiles"]), (0, 1), result.stderr)
        self.assertTrue((self.folder / "k.o").exists())

    def test_another_compiler_of_the_same_name_has_its_own_history(self):
        self.sources(["3 5 0"] * 3)
        for version, known in (("12", 0), ("12", 3), ("13", 0)):
            self.tool("gcc", f'#!/bin/sh\n[ "$1" = --version ] && echo "gcc {version}" && exit\nexec {self.hog} "$@"\n')
            os.utime(self.folder / "tools/gcc", (int(version), int(version)))
            command = "for n in 0 1 2; do gcc -c s$n.c -o s$n.o || exit; done"
            result, summary = self.governed(None, 1 << 30, ["sh", "-c", command])
            self.assertEqual((result.returncode, summary["compiles"], summary["known"]), (0, 3, known), result.stderr)

    def test_a_compiler_cache_stays_in_front_of_the_compiler_and_its_hits_are_not_measured(self):
        self.tool("ccache", f'#!/bin/sh\nlast=$(basename "$3")\nif [ -e {self.folder}/$last.hit ]; then : > "$5"; exit; fi\n'
                  f': > {self.folder}/$last.hit\nexec "$@"\n')
        (self.folder / "s0.c").write_text("60 20 0")
        for result_in_cache in ("miss", "hit"):
            result, summary = self.governed(None, 1 << 30, ["sh", "-c",
                                            '$0 launch -- ccache $1 -c s0.c -o s0.o', GOVERNOR, self.hog], "--history", "h")
            self.assertEqual((result.returncode, summary["compiles"]), (0, 1), result.stderr)
            self.assertEqual(len(summary["worst"]), 1 if result_in_cache == "miss" else 0)
        peak, runs = (self.folder / "h").read_text().splitlines()[1].split("\t")[1:5:3]
        self.assertGreater(int(peak), 60 << 10)
        self.assertEqual(runs, "1")
        self.environment["CMAKE_C_COMPILER_LAUNCHER"] = "ccache"
        result, _ = self.governed(None, 1 << 30, ["sh", "-c", "echo $CMAKE_C_COMPILER_LAUNCHER $CMAKE_CXX_COMPILER_LAUNCHER"])
        self.assertEqual(result.stdout, f"{GOVERNOR};launch;--;ccache {GOVERNOR};launch;--\n")

    def test_compiler_wrappers_of_clusters_are_governed_by_name(self):
        wrappers = {"cc": ("c", "c"), "CC": ("cpp", "c++"), "ftn": ("f90", "fortran"), "nvcc": ("cu", "cuda"),
                    "hipcc": ("cpp", "hip"), "x86_64-conda-linux-gnu-g++": ("cpp", "c++")}
        commands = []
        for name, (suffix, _) in wrappers.items():
            self.tool(name, f'#!/bin/sh\nexec {self.hog} "$@"\n')
            (self.folder / f"{name}.{suffix}").write_text("2 1 0")
            commands.append(f"{name} -c {name}.{suffix} -o {name}.o")
        result, summary = self.governed(None, 1 << 30, ["sh", "-c", " && ".join(commands)])
        self.assertEqual((result.returncode, summary["compiles"]), (0, len(wrappers)), result.stderr)
        shown = self.run_in(None, [GOVERNOR, "history", "show"]).stdout.splitlines()
        for name, (suffix, language) in wrappers.items():
            self.assertIn([language, f"{name}.{suffix}"], [line.split()[-2:] for line in shown])

    def test_output_passes_unchanged_for_all_byte_values(self):
        bytes_out = bytes(range(256)) * 3000
        (self.folder / "bytes").write_bytes(bytes_out)
        self.tool("gcc", "#!/bin/sh\ncat bytes\ntac -s a bytes >&2\nexit 41\n")
        plain = subprocess.run([self.folder / "tools/gcc", "-c", "x.c"], cwd=self.folder, capture_output=True)
        self.assertEqual(plain.stdout, bytes_out)
        for command in (["gcc", "-c", "x.c"], [GOVERNOR, "launch", "--", self.folder / "tools/gcc", "-c", "x.c"]):
            result = subprocess.run([GOVERNOR, "--quiet", "--", *command], cwd=self.folder, env=self.environment,
                                    capture_output=True, timeout=CAP_S)
            self.assertEqual(result.returncode, 41)
            self.assertTrue(result.stdout == plain.stdout, "stdout differs")
            self.assertTrue(result.stderr.startswith(plain.stderr), "stderr differs")
            self.assertTrue(result.stderr == plain.stderr, result.stderr[len(plain.stderr):][:300])

    def test_the_cost_of_thousands_of_tiny_compiles(self):
        count, ms = (10_000, 10) if IS_FULL else (1000, 0)
        lines = ["rule t\n  command = $launch " + str(self.hog) + " -c t.c\n"]
        lines += [f"build t{number}: t\n" for number in range(count)]
        (self.folder / "t.c").write_text(f"0 {ms} 0")
        (self.folder / "build.ninja").write_text("".join(lines))

        def cpu_s() -> float:  # of all ended descendants
            now = os.times()
            return now.children_user + now.children_system

        begun, cpu_begun = time.monotonic(), cpu_s()
        self.run_in(None, ["ninja", "-j4"], timeout=10 * CAP_S, check=True)
        plain, cpu_plain = time.monotonic() - begun, cpu_s() - cpu_begun
        (self.folder / "build.ninja").write_text(f"launch = {GOVERNOR} launch --\n" + "".join(lines))
        cpu_begun = cpu_s()
        result, summary = self.governed(None, 1 << 34, ["ninja"], timeout=10 * CAP_S)
        cpu_governed = cpu_s() - cpu_begun
        self.assertEqual((result.returncode, summary["compiles"]), (0, count), result.stdout[-2000:])
        print(f"{count} compiles: plain {plain:.2f} s, governed {summary['wall_s']:.2f} s, "
              f"{(summary['wall_s'] - plain) / count * 1000:.2f} ms each on {summary['cores']} cores; CPU "
              f"{(cpu_governed - cpu_plain) / count * 1000:.2f} ms each; "
              f"waiting at most {summary['max_waiting']}", file=sys.stderr)

    def test_ready_compiles_wait_in_the_broker_while_others_run(self):
        self.sources(["0 6000 0"] * 2 + ["0 0 0"] * 200)  # as long as a slow machine needs for 100 starts
        result, summary = self.governed(None, 1 << 34, ["ninja"], "--cores", "2", "--window", "128")
        self.assertEqual((result.returncode, summary["compiles"]), (0, 202), result.stdout[-2000:])
        self.assertGreater(summary["max_waiting"], 100)


if __name__ == "__main__":
    unittest.main(verbosity=2)
