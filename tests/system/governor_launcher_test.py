#!/usr/bin/env python3
"""The launcher of one compile: what it passes to the compiler and back, signals, and a broker that dies."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import unittest
from pathlib import Path

from support.governed import CAP_S, GOVERNOR, SLOWER, GovernedCase

LAUNCH = [GOVERNOR, "launch", "--"]
# A compiler that prints its name, arguments, environment, descriptors and stdin.
SEEN = r"""#!/bin/sh
case " $* " in *" -c "*) ;; *) exit 0;; esac
printf 'name %s\n' "$0"
printf 'word %s\n' "$@"
env | grep -v '^_=' | sort
ls /proc/self/fd
cat
"""


class Launcher(GovernedCase):
    maxDiff = None

    @staticmethod
    def is_connected(pid: int) -> bool:
        """Whether a launcher has its signalfd and the broker's socket in addition to stdin, stdout and
        stderr.
        """
        with contextlib.suppress(OSError):
            is_launcher = Path(f"/proc/{pid}/comm").read_text().strip() == GOVERNOR.name[:15]
            return is_launcher and len(os.listdir(f"/proc/{pid}/fd")) >= 5
        return False

    def launcher_of(self, build: subprocess.Popen, source: str) -> int:
        """The PID of a compile's launcher, once it is connected."""
        def found():
            for pid in self.children(build.pid, "wheelyard-governor"):
                words = self.command_line(pid).split("\0")
                if "launch" in words and source in words and self.is_connected(pid):
                    return pid
            return 0
        return self.wait_until(found, f"the launcher of {source}")

    def two_on_one_core(self, ms: int) -> tuple:
        """Starts a build of two compiles of `ms` each on one core. Returns the build, the PID of the waiting
        launcher and its source. The build prints how each ends.
        """
        self.sources([f"5 {ms * SLOWER} 0"] * 2)
        each = f'for source in s0.c s1.c; do ({GOVERNOR} launch -- {self.hog} -c $source -o ${{source%.c}}.o; echo "$source $?") & done; wait'
        build = self.start(["sh", "-c", each], "--cores", "1", "--quiet")
        # Only a hog with that source: the broker also runs one for its version.
        other = self.wait_until(lambda: "s1.c" if self.hogs_of(build.pid, "s0.c") else
                                "s0.c" if self.hogs_of(build.pid, "s1.c") else None, "the first compile")
        waiting = self.launcher_of(build, other)
        self.assertEqual(self.children(waiting, "hog"), [])
        return build, waiting, other

    def test_the_compiler_gets_the_same_input_as_without_a_governor(self):
        self.tool("gcc", SEEN)
        self.environment |= {"ODD": "a=b c\t'\"", "EMPTY": ""}
        words = ["-c", "a b.c", "", "-DX=\"'$1\\", "ünï.c"]
        plain = subprocess.run(["gcc", *words], cwd=self.folder, env=self.environment, input="from stdin\n", capture_output=True,
                               text=True, timeout=CAP_S)
        for called in (["gcc"], [*LAUNCH, "gcc"], [*LAUNCH, self.folder / "tools" / "gcc"]):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", *called, *words], input="from stdin\n")
            self.assertEqual(result.returncode, 0, result.stderr)
            without_ours = [re.sub(r"^(WHEELYARD_|CMAKE_|MAX_JOBS|CARGO_BUILD_JOBS|GOMAXPROCS).*\n", "", text, flags=re.M) for text in (result.stdout, plain.stdout)]
            self.assertEqual(*without_ours)
            self.assertIn("WHEELYARD_GOVERNOR_HELD=1\n", result.stdout)

    def test_a_program_without_a_shebang_is_run_by_the_shell(self):
        self.tool("gcc", "[ \"$1\" = -c ] && echo compiled > a.o && echo said\n")
        result, summary = self.governed(None, 1 << 30, [*LAUNCH, "gcc", "-c", "a.c"])
        self.assertEqual((result.returncode, result.stdout, (self.folder / "a.o").read_text()), (0, "said\n", "compiled\n"))
        self.assertEqual((summary["compiles"], summary["failed"], summary["lost"]), (1, 0, 0))

    def test_a_missing_or_non_executable_compiler_is_reported(self):
        (self.folder / "gcc").write_text("no right to run")
        for compiler, code in (("/nowhere/gcc", 127), (self.folder / "gcc", 126), ("gcc-none", 127)):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", *LAUNCH, compiler, "-c", "a.c"])
            self.assertEqual((result.returncode, result.stdout), (code, ""))
            self.assertIn(f"cannot run {compiler}", result.stderr)

    def test_a_relative_path_entry_is_resolved_in_the_current_folder(self):
        self.tool("gcc", "#!/bin/sh\ntouch elsewhere\n")
        self.program(self.folder / "project" / "bin" / "gcc", "#!/bin/sh\ntouch its-own\n")
        # Through our shim, which is first on PATH, and through the launcher.
        for call in ("PATH=${PATH%%:*}:bin:${PATH#*:} gcc", f"PATH=bin:$PATH {' '.join(map(str, LAUNCH))} gcc"):
            result, summary = self.governed(None, 1 << 30, ["sh", "-c", f"cd project && {call} -c a.c && ls && rm its-own"])
            self.assertEqual((result.returncode, result.stdout, summary["compiles"]), (0, "bin\nits-own\n", 1), result.stderr)

    def test_a_governor_below_a_governor(self):
        (self.folder / "a.c").write_text("int f(void) { return 1; }\n")
        inner = ["env", f"XDG_CACHE_HOME={self.folder}/other", GOVERNOR, "--quiet", "--no-history", "--"]
        for words in (["gcc", "-c", "a.c"], [*LAUNCH, "gcc", "-c", "a.c"]):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", *inner, *words])
            self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_node_without_a_home_gets_shims_and_a_history_in_a_private_folder(self):
        self.tool("gcc", "#!/bin/sh\ntouch a.o\n")
        folder = Path(f"/tmp/wheelyard-{os.geteuid()}")
        del self.environment["XDG_CACHE_HOME"]
        for home in (None, "/dev/null/home"):  # not set; not mounted
            self.environment.pop("HOME", None)
            self.environment |= {"HOME": home} if home else {}
            result = self.run_in(None, [GOVERNOR, "--quiet", "--", "sh", "-c", "command -v gcc; gcc -c a.c"])
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertRegex(result.stdout, rf"^{folder}/shims/[0-9]+/gcc\n$")
            self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
            self.assertTrue((folder / "history").exists())
        self.assertFalse(Path("/tmp/.cache/wheelyard").exists())

    def test_a_compiler_of_an_earlier_build_is_not_found_by_one_that_has_none(self):
        self.tool("gcc-99", "#!/bin/sh\ntouch a.o\n")
        governed = [GOVERNOR, "--quiet", "--no-history", "--", "sh", "-c"]
        self.assertEqual(self.run_in(None, [*governed, "gcc-99 -c a.c"]).returncode, 0)
        (self.folder / "tools/gcc-99").unlink()
        result = self.run_in(None, [*governed, "command -v gcc-99; gcc-99 -c a.c"])
        self.assertEqual((result.returncode, result.stdout), (127, ""), result.stderr)
        self.assertIn("gcc-99: not found", result.stderr)
        link = next(self.folder.glob("cache/wheelyard/governor/shims/*/gcc-99"))  # a build may have recorded its path
        result = self.run_in(None, [*governed, f"{link} -c a.c"])
        self.assertEqual((result.returncode, result.stderr), (127, "wheelyard-governor: gcc-99: command not found\n"))

    def test_an_empty_socket_path_means_no_governor(self):
        (self.folder / "a.c").write_text("int f(void) { return 1; }\n")
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as stranger:
            try:
                stranger.bind(b"\0")  # what an empty path means to connect(2)
            except OSError as error:
                self.skipTest(f"the address is in use: {error}")
            stranger.listen()
            self.environment["WHEELYARD_GOVERNOR_SOCKET"] = ""
            result = self.run_in(None, [*LAUNCH, "gcc", "-c", "a.c"])
            self.assertEqual((result.returncode, result.stderr, self.objects()), (0, "", 1))

    def test_long_command_lines_and_environments_reach_the_compiler_unchanged(self):
        self.tool("gcc", "#!/bin/sh\necho $# $MANY_4999 > count\n")
        for count, variables in ((9000, 0), (3, 5000), (9000, 5000)):
            self.environment |= {f"MANY_{number}": "x" for number in range(variables)}
            result, summary = self.governed(None, 1 << 30, [*LAUNCH, "gcc", "-c", "a.c", *["-DX=1"] * (count - 2)])
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual((self.folder / "count").read_text().split(), [str(count), *(["x"] if variables else [])])
            self.assertEqual(summary["compiles"], 1)

    def test_a_signal_ends_a_waiting_launcher_like_any_program(self):
        build, waiting, other = self.two_on_one_core(20_000)
        os.kill(waiting, signal.SIGTERM)
        self.assertEqual(next(line for line in build.stdout if line.startswith("s")), f"{other} {128 + signal.SIGTERM}\n")
        self.assertEqual(self.hogs_of(build.pid, other), [])
        os.killpg(build.pid, signal.SIGTERM)
        build.communicate(timeout=CAP_S)
        self.assertEqual((self.objects(), self.summary()["lost"]), (0, 0))

    def inheriting(self, command: str) -> str:
        """Shell code that runs `command` in a process with a child `inherited`, which ends once the file
        `ends` exists.
        """
        self.tool("inherited", "#!/bin/sh\nuntil test -e ends; do sleep 0.01; done\n")
        return f"inherited & exec {command}"

    def own_child(self, launcher: int, name: str) -> int:
        """The PID of the launcher's own child with that name, 0 for none. Excludes children forked by it,
        which keep its name until exec.
        """
        return next((pid for pid in self.children(launcher, name) if self.parent(pid) == launcher), 0)

    def end_inherited(self, launchers: list[int]) -> None:
        children = [self.wait_until(lambda pid=pid: self.own_child(pid, "inherited"), "the inherited child") for pid in launchers]
        (self.folder / "ends").touch()
        self.wait_until(lambda: all(map(self.is_gone, children)), "the inherited children's ends")

    def test_the_end_of_an_inherited_child_does_not_count_as_the_compilers(self):
        self.tool("gcc", "#!/bin/sh\n[ \"$1\" = -c ] || exit 0\nuntil test -e finish; do sleep 0.01; done\nexit ${2#s}\n")
        script = self.inheriting(f'{GOVERNOR} launch -- gcc -c "$0"')
        for cores in (1, 2):  # one launcher waits, or both have a compiler
            build = self.start(["sh", "-c", f"""sh -c '{script}' s0 & first=$!
                sh -c '{script}' s7; second=$?; wait $first; echo $? $second"""], "--cores", str(cores))
            launchers = [self.launcher_of(build, source) for source in ("s0", "s7")]
            compilers = self.wait_until(lambda: len(found := [pid for pid in (self.own_child(one, "gcc") for one in launchers) if pid]) == cores
                                        and found, "the compilers")
            self.end_inherited(launchers)
            self.assertFalse(any(map(self.is_gone, [*launchers, *compilers])))
            (self.folder / "finish").touch()
            text, _ = build.communicate(timeout=CAP_S)
            summary = self.summary()
            self.assertIn("0 7\n", text)
            self.assertEqual((summary["compiles"], summary["failed"], summary["lost"]), (2, 1, 0), text)
            for name in ("ends", "finish"):
                (self.folder / name).unlink()

    def test_an_inherited_child_may_end_before_the_broker_answers(self):
        (self.folder / "words").write_text("-c a.c")
        (self.folder / "a.c").write_text("int f(void) { return 1; }\n")
        script = self.inheriting(f'{GOVERNOR} launch -- "$@"')
        for words in (["gcc", "@words"], ["gcc", "--version"], ["gcc", "-c", "a.c"], ["make", "--version"]):
            (self.folder / "asks").touch()
            build = self.start(["sh", "-c", f"while test -e asks; do sleep 0.01; done; {script}", "sh", *words])
            # Not the shell of the self-test.
            launcher = self.wait_until(lambda: [pid for pid in self.children(build.pid, "sh") if "asks" in self.command_line(pid)],
                                       "the build")[0]
            broker = self.broker_of(build)
            os.kill(broker, signal.SIGSTOP)
            (self.folder / "asks").unlink()
            self.wait_until(lambda: self.is_gone(launcher) or self.is_connected(launcher), "the question")
            if not self.is_gone(launcher):
                self.end_inherited([launcher])
            os.kill(broker, signal.SIGCONT)
            (self.folder / "ends").touch()
            text, _ = build.communicate(timeout=CAP_S)
            self.assertEqual(build.returncode, 0, text)
            (self.folder / "ends").unlink()

    def test_an_ignored_signal_does_not_end_the_launcher(self):
        """For example SIGHUP under nohup when the terminal closes."""
        self.sources([f"5 {2500 * SLOWER} 0"] * 2)
        compile_one = " ".join(map(str, [GOVERNOR, "launch", "--", self.hog, "-c"]))
        build = self.start(["sh", "-c", f"trap '' HUP; {compile_one} s0.c -o s0.o & {compile_one} s1.c -o s1.o && wait $!"],
                           "--cores", "1")
        self.wait_until(lambda: self.children(build.pid, "hog"), "the first compile")
        for source in ("s0.c", "s1.c"):
            os.kill(self.launcher_of(build, source), signal.SIGHUP)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual((build.returncode, self.objects(), self.summary()["compiles"]), (0, 2, 2), text)

    def test_a_signal_that_the_governor_ignores_does_not_reach_the_build(self):
        """A build tool may handle SIGHUP although nohup(1) set it to ignored."""
        tool = """if True:
            import pathlib, signal, sys, time
            seen = []
            signal.signal(signal.SIGHUP, lambda number, _: seen.append(number))
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(len(seen)))
            pathlib.Path("ready").touch()
            while True:
                time.sleep(0.05)  # not pause(), which a signal that comes just before it does not end
            """
        for handler, seen in ((signal.SIG_IGN, 0), (signal.SIG_DFL, 1)):
            before = signal.signal(signal.SIGHUP, handler)
            build = self.start([sys.executable, "-c", tool])
            signal.signal(signal.SIGHUP, before)
            ready = self.folder / "ready"
            self.wait_until(ready.exists, "the build tool")
            os.kill(build.pid, signal.SIGHUP)
            self.wait_until(lambda: not self.is_pending(build.pid, signal.SIGHUP), "the governor's handler")
            os.kill(build.pid, signal.SIGTERM)
            text, _ = build.communicate(timeout=CAP_S)
            self.assertEqual(build.returncode, seen, text)
            ready.unlink()

    @staticmethod
    def is_pending(pid: int, number: int) -> bool:
        pending = re.findall(r"^(?:Shd|Sig)Pnd:\s*(\w+)", Path(f"/proc/{pid}/status").read_text(), re.M)
        return any(int(one, 16) >> (number - 1) & 1 for one in pending)

    def test_a_parent_that_ignores_sigchld_does_not_change_exit_codes(self):
        self.sources(["2 5 0", "2 5 7"])
        ignoring = [sys.executable, "-c", "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
                                          "os.execv(sys.argv[1], sys.argv[1:])"]
        for source, code in (("s0.c", 0), ("s1.c", 7)):
            result = self.run_in(None, [GOVERNOR, "--quiet", "--", *ignoring, *LAUNCH, self.hog, "-c", source])
            self.assertEqual((result.returncode, result.stdout), (code, f"out of {source}\n"))
            result = self.run_in(None, [*ignoring, GOVERNOR, "--quiet", "--", *LAUNCH, self.hog, "-c", source])
            self.assertEqual((result.returncode, result.stdout), (code, f"out of {source}\n"))

    def test_a_broker_killed_while_one_compile_waits_and_one_runs(self):
        build, _, _ = self.two_on_one_core(4000)
        os.kill(self.broker_of(build), signal.SIGKILL)
        text, _ = build.communicate(timeout=CAP_S)
        self.assertEqual((build.returncode, self.objects()), (0, 2), text)
        self.assertIn("s0.c 0\n", text)
        self.assertIn("s1.c 0\n", text)

    def test_large_output_is_passed_completely(self):
        self.tool("gcc", "#!/bin/sh\n[ \"$1\" = -c ] || exit 0\nyes out | head -c 3000000\nyes err | head -c 3000000 >&2\n")
        result = self.run_in(None, [GOVERNOR, "--quiet", "--no-history", "--", *LAUNCH, "gcc", "-c", "a.c"])
        self.assertEqual((result.returncode, len(result.stdout), len(result.stderr)), (0, 3_000_000, 3_000_000))
        self.assertEqual((set(result.stdout.split()[:-1]), set(result.stderr.split()[:-1])), ({"out"}, {"err"}))


if __name__ == "__main__":
    unittest.main()
