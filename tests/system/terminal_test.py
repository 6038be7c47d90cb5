"""What the programs print on a terminal of 80 and of 60 columns: no line is wider unless one word is (a hash), no word is cut, every
table has its heads, and colours are for terminals alone."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import BIN, COMMAND_TIMEOUT_S, INDEX
from support.package_index import PackageIndex, write_sdist
from support.site import Site
from support.terminal import read_all
from support.wheels import Wheel

WIDTHS = (80, 60)
LABEL = 14  # the widest head beside a cell
HELP_LABEL = 30  # an option beside its description
LONG = "yard-measurements-of-one-long-summer"
REASON = "it was built against a library that the nodes of the second partition do not have, see the ticket of last week"


def on_terminal(command: list, environment: dict[str, str], columns: int) -> str:
    """What the command writes to both outputs on a terminal of this width."""
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 500, columns, 0, 0))
    process = subprocess.Popen([*map(str, command)], env=environment | {"TERM": "xterm"}, stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal)
    os.close(terminal)
    pieces = []

    thread = threading.Thread(target=lambda: pieces.append(read_all(reader)))
    thread.start()
    try:
        process.wait(timeout=COMMAND_TIMEOUT_S)
    finally:
        process.kill()
        thread.join()
        os.close(reader)
    return b"".join(pieces).decode().replace("\r\n", "\n")


def words_of(text: str) -> set[str]:
    """Without those that change from run to run: ages."""
    return {word for word in text.split() if not re.fullmatch(r"[-0-9:.]+|s|min|h|ms", word)}


class TerminalTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        folder = cls.farm.folder / "wheels"
        cls.operator = cls.farm.create_token("*", name="the-operator-of-the-second-partition", projects=("*",),
                                             actions=("upload", "task", "yank", "quarantine"))
        for name in (LONG, "yard-six"):
            path = Wheel(name, "2026.11.1").write(folder)
            status, problem = RawUpload(cls.farm, cls.operator, path).send()
            assert status == 200, problem
        cls.file = f"{LONG.replace('-', '_')}-2026.11.1-py3-none-any.whl"
        done = cls.farm.run("wheelyard-registry", "quarantine", INDEX, cls.file, "--reason", REASON, "-c", cls.farm.config)
        assert done.returncode == 0, done.stderr
        sources = cls.enterClassContext(PackageIndex(cls.farm.folder / "sources"))
        for name in (LONG, "yard-pinned"):
            write_sdist(sources.folder, name, "1.0")
        pinned = f'[source]\nkind = "sdist"\n[source.sha256]\n"1.0" = "{"0" * 64}"\n'
        cls.site = Site(cls.farm, sources, cls.operator, {"yard-pinned": "1.0", LONG: "1.0"}, recipes={"yard-pinned": pinned, LONG: pinned},
                        scheduler='kind = "local"\nmax_attempts = 1\nmax_jobs = 2\n')
        cls.run_output = on_terminal(cls.site.command("run"), cls.site.environment, WIDTHS[1])
        done = cls.farm.run("wheelyard-registry", "task", "add", INDEX, LONG, "1.0", "--python", "3.11", "-c", cls.farm.config)
        assert done.returncode == 0, done.stdout + done.stderr

    def commands(self) -> dict[str, tuple[list, dict[str, str], tuple[str, ...]]]:
        """Name → command, environment, heads of its table."""
        farm, config = self.farm.environment, ("-c", self.farm.config)
        registry, avail = BIN / "wheelyard-registry", BIN / "avail_wheels"
        here = ("--index-url", self.farm.simple_url())
        return {
            "files": ([registry, "files", INDEX, *config], farm, ("FILE", "SIZE", "STATE", "UPLOADED", "UPLOADER", "WHY")),
            "storage": ([registry, "storage", INDEX, *config], farm, ("PROJECT", "FILES", "SIZE", "UPLOADER")),
            "index list": ([registry, "index", "list", *config], farm, ("INDEX", "READ", "STATE", "SDISTS")),
            "token list": ([registry, "token", "list", *config], farm, ("ID", "STATE", "NAME", "ACTIONS", "INDEXES", "PROJECTS", "EXPIRES")),
            "task list": ([registry, "task", "list", *config], farm, ("TASK", "STATE", "INDEX", "PACKAGE", "VERSION", "PYTHON")),
            "plan": (self.site.command("plan"), self.site.environment, ("PACKAGE", "VERSION", "PYTHON", "STATE", "WHY")),
            "status": (self.site.command("status"), self.site.environment, ("ATTEMPT", "CELL", "NO", "SINCE", "WHAT")),
            "avail_wheels": ([avail, *here, "--all"], farm, ("name", "version", "python", "arch")),
            "--status": ([avail, *here, "--status"], farm, ("name", "version", "python", "state", "why")),
            "--why": ([avail, *here, "--why", "yard-six", "--python", "3.11"], farm, ("name", "version", "python")),
        }

    def assert_fits(self, text: str, columns: int, label: int = LABEL):
        for line in re.sub(r"\x1b\[[0-9;]*[mK]", "", text).replace("\r", "\n").split("\n"):
            is_command = line.startswith("  wheelyard-builder ")  # it is pasted, so it stays whole
            if not is_command and len(max(line.split(), key=len, default="")) + label <= columns:
                self.assertLessEqual(len(line), columns, text)

    def test_every_table_fits_the_terminal_cuts_no_word_and_has_heads(self):
        for name, (command, environment, heads) in self.commands().items():
            piped = subprocess.run([*map(str, command)], env=environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
            self.assertEqual(piped.returncode, 0, piped.stderr)
            self.assertNotIn("\x1b", piped.stdout, name)
            self.assertNotIn("\n\n\n", piped.stdout, name)
            self.assertFalse(piped.stdout.endswith("\n\n"), name)
            # Stacked rows leave out empty cells, with their heads; the time is that of each call.
            may_miss = {word for line in piped.stdout.splitlines() if line.split()[:1] == [heads[0]] or line.startswith("As of ")
                        for word in line.split()}
            for columns in WIDTHS:
                with self.subTest(name, columns=columns):
                    shown = on_terminal(command, environment | {"NO_COLOR": "1"}, columns)
                    self.assertNotIn("\x1b", shown)
                    self.assert_fits(shown, columns)
                    self.assertEqual(words_of(piped.stdout) - words_of(shown) - may_miss, set(), shown)
                    self.assertEqual(set(heads) - words_of(shown), set(), shown)

    def test_hints_and_helps_break_between_words_and_never_within_a_command(self):
        here = ("--index-url", self.farm.simple_url())
        registry, builder, avail = BIN / "wheelyard-registry", BIN / "wheelyard-builder", BIN / "avail_wheels"
        unknown = "requirements-of-the-second-partition-and-its-login-nodes.txt"
        # Command → the command that it tells its reader to run.
        hints = {
            (avail, *here, unknown): f"avail_wheels -r {unknown}",
            (avail, *here[:1], here[1].replace(INDEX, "no-such-index")): self.farm.simple_url(),
            (registry, "no-such-command"): "`wheelyard-registry --help`",
            (registry, "task", "show", "t000000000000", "-c", self.farm.config): "`wheelyard-registry task list`",
            tuple(self.site.command("retry", "no-such-cell-of-this-site")): "`status`",
            tuple(self.site.command("explain", f"{LONG}-1.0-cp311")): f"`{LONG.replace('-', '_')}-1.0.tar.gz`",
            (avail, "--help"): "avail_wheels torch --here",
            (builder, "--help"): "`wheelyard-builder COMMAND --help`",
            (registry, "token", "create", "--help"): "wheelyard-registry token create",
        }
        for command, told in hints.items():
            environment = self.site.environment if command[0] == builder else self.farm.environment
            for columns in WIDTHS:
                with self.subTest(" ".join(map(str, command)), columns=columns):
                    shown = on_terminal([*command], environment, columns)
                    in_prose = re.sub("`[^`\n]*`", "", shown.replace(told, ""))
                    self.assert_fits(in_prose, columns, HELP_LABEL if "--help" in command else LABEL)
                    self.assertIn(told, shown)

    def test_only_a_terminal_has_colour_and_only_where_it_is_wanted(self):
        command = [BIN / "avail_wheels", "--index-url", self.farm.simple_url(), "yard-six"]
        self.assertTrue(on_terminal(command, self.farm.environment, 80).startswith("\x1b[1mname"))
        self.assertTrue(on_terminal(command, self.farm.environment | {"NO_COLOR": "1"}, 80).startswith("name"))

    def test_run_redraws_within_the_width(self):
        self.assert_fits(self.run_output, WIDTHS[1])
        self.assertNotRegex(self.run_output, r"\x1b\[[0-9;]*m")
        self.assertIn("yard-pinned", self.run_output)


if __name__ == "__main__":
    main()
