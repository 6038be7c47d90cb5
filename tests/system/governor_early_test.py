#!/usr/bin/env python3
"""The launcher before libc is started, and each place from which it goes on with libc: what comes out is the same."""

import os
import re
import signal
import socket
import subprocess
import sys
import unittest
from pathlib import Path

from support.governed import CAP_S, GOVERNOR, SANITIZED, GovernedCase

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

    def waiting(self, build: subprocess.Popen, source: str) -> int:
        """The launcher of a compile that has not begun."""
        def found():
            for pid in self.children(build.pid, "wheelyard-governor"):
                words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                # Signals and the broker beside stdin, stdout and stderr.
                if b"launch" in words and source.encode() in words and len(os.listdir(f"/proc/{pid}/fd")) >= 5:
                    return pid
            return 0
        return self.wait_until(found, f"the launcher of {source}")

    def two_on_one_core(self) -> tuple:
        """A build one of whose compiles waits for the other, the waiting launcher's number and its source."""
        self.sources(["5 1500 0", "5 1500 0"])
        build = self.start(["ninja", "-k0", "-j2"], "--cores", "1")
        running = self.wait_until(lambda: self.children(build.pid, "hog"), "the first compile")[0]
        words = Path(f"/proc/{running}/cmdline").read_bytes()
        other = "s1.c" if b"s0.c" in words else "s0.c"
        return build, self.waiting(build, other), other

    @unittest.skipIf(SANITIZED, "a sanitizer's program begins with its runtime")
    def test_what_waits_has_not_started_libc(self):
        build, waiting, _ = self.two_on_one_core()
        maps = Path(f"/proc/{waiting}/maps").read_text()
        self.assertIn(str(GOVERNOR), maps)
        self.assertNotIn("[heap]", maps)  # libc's start takes one, and every C++ string after it
        build.terminate()
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
        (self.folder / "project" / "bin").mkdir(parents=True)
        (self.folder / "project" / "bin" / "gcc").write_text("#!/bin/sh\ntouch its-own\n")
        (self.folder / "project" / "bin" / "gcc").chmod(0o755)
        for launch in ("", " ".join(map(str, LAUNCH))):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", "sh", "-c",
                                        f"cd project && PATH=bin:$PATH {launch} gcc -c a.c && ls && rm its-own"])
            self.assertEqual((result.returncode, result.stdout), (0, "bin\nits-own\n"), result.stderr)

    def test_a_governor_below_a_governor(self):
        (self.folder / "a.c").write_text("int f(void) { return 1; }\n")
        inner = ["env", f"XDG_CACHE_HOME={self.folder}/other", GOVERNOR, "--quiet", "--no-history", "--"]
        for words in (["gcc", "-c", "a.c"], [*LAUNCH, "gcc", "-c", "a.c"]):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", *inner, *words])
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_socket_of_no_name_is_none(self):
        (self.folder / "a.c").write_text("int f(void) { return 1; }\n")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
            stranger.bind(b"\0")  # what an empty path means to connect(2)
            stranger.listen()
            self.environment["WHEELYARD_GOVERNOR_SOCKET"] = ""
            result = self.run_in(None, [*LAUNCH, "gcc", "-c", "a.c"])
            self.assertEqual((result.returncode, result.stderr, self.objects()), (0, "", 1))

    def test_of_a_variable_that_is_there_twice_the_first_counts(self):
        self.tool("gcc", "#!/bin/sh\necho first\n")
        (self.folder / "twice.c").write_text('''#include <unistd.h>
int main(int argc, char** argv) { return execve(argv[3], argv + 3, (char*[]){argv[1], argv[2], argv[argc - 1], 0}); }''')
        subprocess.run(["cc", "-o", "twice", "twice.c"], cwd=self.folder, check=True)
        result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", "sh", "-c",
                                    f'./twice "PATH={self.folder}/tools:$PATH" "PATH=$PATH" "$@" "WHEELYARD_GOVERNOR_SOCKET=$WHEELYARD_GOVERNOR_SOCKET"',
                                    "sh", GOVERNOR, "launch", "--", "gcc", "-c", "a.c"])
        self.assertEqual((result.returncode, result.stdout), (0, "first\n"), result.stderr)

    def test_long_command_lines_and_environments_go_the_other_way_to_the_same_end(self):
        self.tool("gcc", "#!/bin/sh\necho $# $MANY_4999 > count\n")
        for count, variables in ((9000, 0), (3, 5000), (9000, 5000)):
            self.environment |= {f"MANY_{number}": "x" for number in range(variables)}
            result, summary = self.governed(None, 1 << 30, [*LAUNCH, "gcc", "-c", "a.c", *["-DX=1"] * (count - 2)])
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual((self.folder / "count").read_text().split(), [str(count), *(["x"] if variables else [])])
            self.assertEqual(summary["compiles"], 1)

    def test_a_signal_ends_what_waits_as_it_ends_any_program(self):
        build, waiting, other = self.two_on_one_core()
        os.kill(waiting, signal.SIGTERM)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertNotEqual(build.returncode, 0, text)
        self.assertEqual(self.objects(), 1, text)
        self.assertFalse((self.folder / other.replace(".c", ".o")).exists())
        self.assertEqual(self.summary()["compiles"], 1)

    def test_the_end_of_an_inherited_child_is_not_the_compilers(self):
        self.sources(["5 1500 0", "5 1500 7"])
        for options in (["--cores", "1"], ["--cores", "2"]):  # while it waits, and while its compiler runs
            script = f'sleep 0.7 & exec {GOVERNOR} launch -- {self.hog} -c "$0" -o "$0.o"'
            result, summary = self.governed(None, 1 << 30, ["sh", "-c", f"""sh -c '{script}' s0.c & first=$!
                sh -c '{script}' s1.c; second=$?; wait $first; echo $? $second"""], *options)
            self.assertEqual(result.stdout.splitlines()[-1], "0 7", result.stderr)
            self.assertEqual((summary["compiles"], summary["failed"], summary["lost"]), (2, 1, 0))

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
        build, _, _ = self.two_on_one_core()
        os.kill(self.broker_of(build), signal.SIGKILL)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual((build.returncode, self.objects()), (0, 2), text)

    def test_large_output_comes_whole(self):
        self.tool("gcc", "#!/bin/sh\n[ \"$1\" = -c ] || exit 0\nyes out | head -c 3000000\nyes err | head -c 3000000 >&2\n")
        result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", *LAUNCH, "gcc", "-c", "a.c"])
        self.assertEqual((result.returncode, len(result.stdout), len(result.stderr)), (0, 3_000_000, 3_000_000))
        self.assertEqual((set(result.stdout.split()[:-1]), set(result.stderr.split()[:-1])), ({"out"}, {"err"}))


if __name__ == "__main__":
    unittest.main()
