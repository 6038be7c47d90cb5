#!/usr/bin/env python3
"""The launcher before libc is started, and each place from which it goes on with libc: what comes out is the same."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

from support.governed import CAP_S, GOVERNOR, SANITIZED, SLOWER, GovernedCase

# WHEELYARD_LAUNCHER: a launcher of another machine and its emulator (governor_aarch64_test.py).
LAUNCH = [*os.environ.get("WHEELYARD_LAUNCHER", str(GOVERNOR)).split(), "launch", "--"]
# What it is told to run, with its environment, its descriptors and its group.
SEEN = r"""#!/bin/sh
case " $* " in *" -c "*) ;; *) exit 0;; esac
printf 'name %s\n' "$0"
printf 'word %s\n' "$@"
env | grep -v '^_=' | sort
ls /proc/self/fd
cat
"""


class EarlyLauncher(GovernedCase):
    maxDiff = None

    def launcher_of(self, build: subprocess.Popen, source: str) -> int:
        """The launcher of a compile, connected."""
        def found():
            for pid in self.children(build.pid, "wheelyard-governor"):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                # Signals and the broker beside stdin, stdout and stderr.
                if b"launch" in words and source.encode() in words and len(os.listdir(f"/proc/{pid}/fd")) >= 5:
                    return pid
            return 0
        return self.wait_until(found, f"the launcher of {source}")

    def two_on_one_core(self, ms: int) -> tuple:
        """A build one of whose compiles, of `ms` each, waits for the other, the waiting launcher's number and its source; it says how they end."""
        self.sources([f"5 {ms * SLOWER} 0"] * 2)
        each = f'for source in s0.c s1.c; do ({GOVERNOR} launch -- {self.hog} -c $source -o ${{source%.c}}.o; echo "$source $?") & done; wait'
        build = self.start(["sh", "-c", each], "--cores", "1", "--quiet")
        # Not any hog: the broker asks one for its version.
        other = self.wait_until(lambda: "s1.c" if self.hogs_of(build.pid, "s0.c") else
                                "s0.c" if self.hogs_of(build.pid, "s1.c") else None, "the first compile")
        waiting = self.launcher_of(build, other)
        self.assertEqual(self.children(waiting, "hog"), [])
        return build, waiting, other

    @unittest.skipIf(SANITIZED, "a sanitizer's program begins with its runtime")
    def test_what_waits_has_not_started_libc(self):
        build, waiting, _ = self.two_on_one_core(20_000)
        maps = Path(f"/proc/{waiting}/maps").read_text()
        self.assertIn(str(GOVERNOR), maps)
        self.assertNotIn("[heap]", maps)  # libc's start takes one, and every C++ string after it
        os.killpg(build.pid, signal.SIGTERM)
        build.communicate(timeout=CAP_S)

    def test_the_compiler_gets_what_it_would_get_without_us(self):
        self.tool("gcc", SEEN)
        self.environment |= {"ODD": "a=b c\t'\"", "EMPTY": ""}
        words = ["-c", "a b.c", "", "-DX=\"'$1\\", "ünï.c"]
        plain = subprocess.run(["gcc", *words], cwd=self.folder, env=self.environment, input="from stdin\n", capture_output=True,
                               text=True, timeout=CAP_S)
        for called in (["gcc"], [*LAUNCH, "gcc"], [*LAUNCH, self.folder / "tools" / "gcc"]):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", *called, *words], input="from stdin\n")
            self.assertEqual(result.returncode, 0, result.stderr)
            without_ours = [re.sub(r"^(WHEELYARD_|CMAKE_|MAX_JOBS).*\n", "", text, flags=re.M) for text in (result.stdout, plain.stdout)]
            self.assertEqual(*without_ours)
            self.assertIn("WHEELYARD_GOVERNOR_HELD=1\n", result.stdout)

    def test_a_program_without_a_first_line_is_run_by_the_shell_as_elsewhere(self):
        self.tool("gcc", "[ \"$1\" = -c ] && echo compiled > a.o && echo said\n")
        result, summary = self.governed(None, 1 << 30, [*LAUNCH, "gcc", "-c", "a.c"])
        self.assertEqual((result.returncode, result.stdout, (self.folder / "a.o").read_text()), (0, "said\n", "compiled\n"))
        self.assertEqual((summary["compiles"], summary["failed"], summary["lost"]), (1, 0, 0))

    def test_a_compiler_that_is_not_there_or_no_program_says_so(self):
        (self.folder / "gcc").write_text("no right to run")
        for compiler, code in (("/nowhere/gcc", 127), (self.folder / "gcc", 126), ("gcc-none", 127)):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", *LAUNCH, compiler, "-c", "a.c"])
            self.assertEqual((result.returncode, result.stdout), (code, ""))
            self.assertIn(f"cannot run {compiler}", result.stderr)

    def test_the_compiler_of_the_folder_it_is_called_in(self):
        self.tool("gcc", "#!/bin/sh\ntouch elsewhere\n")
        self.program(self.folder / "project" / "bin" / "gcc", "#!/bin/sh\ntouch its-own\n")
        # By our link, which is PATH's first, and by the launcher.
        for call in ("PATH=${PATH%%:*}:bin:${PATH#*:} gcc", f"PATH=bin:$PATH {' '.join(map(str, LAUNCH))} gcc"):
            result, summary = self.governed(None, 1 << 30, ["sh", "-c", f"cd project && {call} -c a.c && ls && rm its-own"])
            self.assertEqual((result.returncode, result.stdout, summary["compiles"]), (0, "bin\nits-own\n", 1), result.stderr)

    def test_a_governor_below_a_governor(self):
        (self.folder / "a.c").write_text("int f(void) { return 1; }\n")
        inner = ["env", f"XDG_CACHE_HOME={self.folder}/other", GOVERNOR, "--quiet", "--no-history", "--"]
        for words in (["gcc", "-c", "a.c"], [*LAUNCH, "gcc", "-c", "a.c"]):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", *inner, *words])
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_socket_of_no_name_is_none(self):
        (self.folder / "a.c").write_text("int f(void) { return 1; }\n")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
            try:
                stranger.bind(b"\0")  # what an empty path means to connect(2)
            except OSError as error:
                self.skipTest(f"taken by another: {error}")
            stranger.listen()
            self.environment["WHEELYARD_GOVERNOR_SOCKET"] = ""
            result = self.run_in(None, [*LAUNCH, "gcc", "-c", "a.c"])
            self.assertEqual((result.returncode, result.stderr, self.objects()), (0, "", 1))

    def test_of_a_variable_that_is_there_twice_the_first_counts(self):
        for name in ("first", "second"):
            self.program(self.folder / name / "gcc", f"#!/bin/sh\necho {name}\n")
        (self.folder / "twice.c").write_text('''#include <unistd.h>
int main(int argc, char** argv) { return execve(argv[5], argv + 5, (char*[]){argv[1], argv[2], argv[3], argv[4], 0}); }''')
        subprocess.run(["cc", "-o", "twice", "twice.c"], cwd=self.folder, check=True)
        socket_twice = '"WHEELYARD_GOVERNOR_SOCKET=$WHEELYARD_GOVERNOR_SOCKET" WHEELYARD_GOVERNOR_SOCKET=/nowhere'
        result, summary = self.governed(None, 1 << 30, [
            "sh", "-c", f'./twice "PATH=$PWD/first:$PATH" "PATH=$PWD/second:$PATH" {socket_twice} "$@"',
            "sh", GOVERNOR, "launch", "--", "gcc", "-c", "a.c"])
        self.assertEqual((result.returncode, result.stdout, summary["compiles"]), (0, "first\n", 1), result.stderr)

    def test_long_command_lines_and_environments_go_the_other_way_to_the_same_end(self):
        self.tool("gcc", "#!/bin/sh\necho $# $MANY_4999 > count\n")
        for count, variables in ((9000, 0), (3, 5000), (9000, 5000)):
            self.environment |= {f"MANY_{number}": "x" for number in range(variables)}
            result, summary = self.governed(None, 1 << 30, [*LAUNCH, "gcc", "-c", "a.c", *["-DX=1"] * (count - 2)])
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual((self.folder / "count").read_text().split(), [str(count), *(["x"] if variables else [])])
            self.assertEqual(summary["compiles"], 1)

    def test_a_signal_ends_what_waits_as_it_ends_any_program(self):
        build, waiting, other = self.two_on_one_core(20_000)
        os.kill(waiting, signal.SIGTERM)
        self.assertEqual(next(line for line in build.stdout if line.startswith("s")), f"{other} {128 + signal.SIGTERM}\n")
        self.assertEqual(self.hogs_of(build.pid, other), [])
        os.killpg(build.pid, signal.SIGTERM)
        build.communicate(timeout=CAP_S)
        self.assertEqual((self.objects(), self.summary()["lost"]), (0, 0))

    def test_the_end_of_an_inherited_child_is_not_the_compilers(self):
        self.sources(["5 1500 0", "5 1500 7"])
        for options in (["--cores", "1"], ["--cores", "2"]):  # while it waits, and while its compiler runs
            script = f'sleep 0.7 & exec {GOVERNOR} launch -- {self.hog} -c "$0" -o "$0.o"'
            result, summary = self.governed(None, 1 << 30, ["sh", "-c", f"""sh -c '{script}' s0.c & first=$!
                sh -c '{script}' s1.c; second=$?; wait $first; echo $? $second"""], *options)
            self.assertEqual(result.stdout.splitlines()[-1], "0 7", result.stderr)
            self.assertEqual((summary["compiles"], summary["failed"], summary["lost"]), (2, 1, 0))

    def test_a_signal_before_the_broker_has_answered(self):
        (self.folder / "words").write_text("-c a.c")
        (self.folder / "a.c").write_text("int f(void) { return 1; }\n")
        for words in (["gcc", "@words"], ["gcc", "--version"], ["gcc", "-c", "a.c"], ["make", "--version"]):
            (self.folder / "asks").write_text("")
            build = self.start(["sh", "-c", f'while test -e asks; do sleep 0.01; done; sleep 0.2 & exec {GOVERNOR} launch -- "$@"',
                                "sh", *words])
            self.wait_until(lambda: self.children(build.pid, "sh"), "the build")
            broker = self.broker_of(build)
            os.kill(broker, signal.SIGSTOP)
            (self.folder / "asks").unlink()
            time.sleep(0.6)  # the end of the sleep below comes first
            os.kill(broker, signal.SIGCONT)
            text, _ = build.communicate(timeout=CAP_S)
            self.assertEqual(build.returncode, 0, text)

    def test_a_signal_that_is_ignored_is_none(self):
        """As SIGHUP below nohup, when the terminal goes."""
        self.sources([f"5 {2500 * SLOWER} 0"] * 2)
        compile_one = " ".join(map(str, [GOVERNOR, "launch", "--", self.hog, "-c"]))
        build = self.start(["sh", "-c", f"trap '' HUP; {compile_one} s0.c -o s0.o & {compile_one} s1.c -o s1.o && wait $!"],
                           "--cores", "1")
        self.wait_until(lambda: self.children(build.pid, "hog"), "the first compile")
        for source in ("s0.c", "s1.c"):
            os.kill(self.launcher_of(build, source), signal.SIGHUP)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual((build.returncode, self.objects(), self.summary()["compiles"]), (0, 2, 2), text)

    def test_a_parent_that_ignores_its_childrens_ends(self):
        self.sources(["2 5 0", "2 5 7"])
        ignoring = [sys.executable, "-c", "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
                                          "os.execv(sys.argv[1], sys.argv[1:])"]
        for source, code in (("s0.c", 0), ("s1.c", 7)):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--", *ignoring, *LAUNCH, self.hog, "-c", source])
            self.assertEqual((result.returncode, result.stdout), (code, f"out of {source}\n"))
            result = self.run_in(None, [*ignoring, GOVERNOR, "--quiet", "--", *LAUNCH, self.hog, "-c", source])
            self.assertEqual((result.returncode, result.stdout), (code, f"out of {source}\n"))

    def test_a_broker_killed_while_one_waits_and_one_runs(self):
        build, _, _ = self.two_on_one_core(2000)
        os.kill(self.broker_of(build), signal.SIGKILL)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual((build.returncode, self.objects()), (0, 2), text)
        self.assertIn("s0.c 0\n", text)
        self.assertIn("s1.c 0\n", text)

    def test_large_output_comes_whole(self):
        self.tool("gcc", "#!/bin/sh\n[ \"$1\" = -c ] || exit 0\nyes out | head -c 3000000\nyes err | head -c 3000000 >&2\n")
        result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", *LAUNCH, "gcc", "-c", "a.c"])
        self.assertEqual((result.returncode, len(result.stdout), len(result.stderr)), (0, 3_000_000, 3_000_000))
        self.assertEqual((set(result.stdout.split()[:-1]), set(result.stderr.split()[:-1])), ({"out"}, {"err"}))


if __name__ == "__main__":
    unittest.main()
