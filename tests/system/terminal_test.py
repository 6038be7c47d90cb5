"""What the programs print on a terminal of 80 and of 60 columns: no line is wider unless one word is (a hash), no word is cut, every
table has its heads, and colours are for terminals alone. No text of a hostile index, registry, build or file controls the terminal or
looks like a line of ours, and no index that does not end takes the memory."""

import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import termios
import threading

from support.case import FarmCase, main
from support.clients import RawUpload
from support.farm import BIN, COMMAND_TIMEOUT_S, INDEX
from support.hostile import FORGED, HOSTILE, HostileServer
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


# C0 without line feed and tab, DEL, C1, Unicode's Bidi_Control, and the line and paragraph separators.
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
MAX_CLIENT_MEMORY_KIB = 400 << 10  # the largest page may have 64 MiB, and grows by doubling


class HostileTextTest(FarmCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(HostileServer(cls.farm))
        cls.token_file = cls.farm.folder / "token"
        cls.token_file.touch(mode=0o600)
        cls.token = cls.farm.create_token("*", name="operator", projects=("*",), actions=("*",))
        cls.token_file.write_text(cls.token + "\n")
        path = Wheel("yard-six", "1.0").write(cls.farm.folder / "wheels")
        status, problem = RawUpload(cls.farm, cls.token, path).send()
        assert status == 200, problem
        cls.wheel = path
        for arguments in (("quarantine", INDEX, path.name, "--reason", "a reason"),
                          ("task", "add", INDEX, "yard-six", "2.0", "--python", "3.11")):
            done = cls.farm.run("wheelyard-registry", *arguments, "-c", cls.farm.config)
            assert done.returncode == 0, done.stderr
        cls.task = json.loads(cls.farm.run("wheelyard-registry", "task", "list", "--json", "-c", cls.farm.config).stdout.splitlines()[0])["id"]

    def assert_harmless(self, command: list, environment: dict[str, str], is_json: bool = False):
        """On a terminal and in a pipe, which may lead to one."""
        piped = subprocess.run([*map(str, command)], env=environment, capture_output=True, timeout=COMMAND_TIMEOUT_S)
        shown = on_terminal(command, environment | {"NO_COLOR": "1"}, WIDTHS[0])
        # The SBOM is the wheel's own document, whose bytes count for who reads it from a pipe.
        for text in (shown, "" if "sbom" in command else piped.stdout.decode(), piped.stderr.decode()):
            self.assertEqual(CONTROLS.findall(text), [], text)
            self.assertFalse([line for line in text.splitlines() if line.startswith(FORGED)], text)
        if is_json and piped.returncode == 0:
            for line in piped.stdout.decode().splitlines() if is_json == "lines" else [piped.stdout.decode()]:
                json.loads(line)
        return shown

    def test_no_command_that_asks_a_hostile_registry_lets_its_text_through(self):
        at = ("--token-file", self.token_file, "--url")
        file = (INDEX, self.wheel.name)
        commands = [("files", INDEX), ("storage", INDEX), ("index", "list"), ("index", "show", INDEX), ("index", "set", INDEX, "title=x", "--check"),
                    ("token", "list"), ("token", "create", "--name", "x", "--index", INDEX), ("token", "revoke", "nobody"), ("task", "list"),
                    ("task", "show", self.task), ("task", "log", self.task), ("audit",), ("explain", INDEX, "yard-six"), ("provenance", *file),
                    ("sbom", *file), ("contains", INDEX, "zlib"), ("release", *file), ("yank", *file, "--reason", "a\u202e"), ("gc",)]
        shown = ""
        for kind in ("some", "all"):
            for command in commands:
                for more in ((), ("--json",)):
                    with self.subTest(" ".join(map(str, command)), kind=kind, more=more):
                        shown += self.assert_harmless([BIN / "wheelyard-registry", *command, *more, *at, f"{self.server.url}/{kind}"],
                                                      self.farm.environment)
        for text in ("a reason?]0;owned??[31m", "operator?]0;owned?"):
            self.assertIn(text, shown)

    def test_avail_wheels_lets_no_text_of_an_index_through(self):
        shown = ""
        for place in ("pages/simple/", "list/simple/", "refusing/simple/", f"all/{INDEX}/simple/", f"some/{INDEX}/simple/"):
            for arguments in (("*",), ("evil", "--why"), ("evil", "--raw"), ("evil", "--all"), ("evil", "--install"), ("evil", "--format", "json"),
                              ("--status",), ("login",)):
                with self.subTest(place, arguments=arguments):
                    command = [BIN / "avail_wheels", *arguments, *(() if arguments == ("login",) else ("--index-url",)), f"{self.server.url}/{place}"]
                    shown += self.assert_harmless(command, self.farm.environment, "json" in arguments)
        for text in ("evil    1.0", "requests?]0;owned??[31m", "avail_wheels: ?]0;owned??[31m"):
            self.assertIn(text, shown)

    def test_no_index_without_an_end_takes_the_memory_of_its_clients(self):
        avail = [BIN / "avail_wheels", "evil", "--index-url"]
        imported = [BIN / "wheelyard-registry", "import", "-c", self.farm.config, INDEX, "--from"]
        for kind in ("endless", "bomb", "loop"):
            for command, tail in ((avail, "/simple/"), (imported, "/simple/")):
                with self.subTest(kind, program=command[0].name):
                    process = subprocess.Popen([*map(str, command), f"{self.server.url}/{kind}{tail}", *(("evil-1.0-py3-none-any.whl",) if command is imported else ())],
                                               env=self.farm.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                    error = process.stderr.read()
                    _, status, used = os.wait4(process.pid, 0)
                    process.returncode = os.waitstatus_to_exitcode(status)
                    process.stderr.close()
                    self.assertEqual(process.returncode, 1, error)
                    self.assertLess(used.ru_maxrss, MAX_CLIENT_MEMORY_KIB, error)
                    self.assertIn("redirect" if kind == "loop" else "The answer has more than", error)

    def test_the_builder_lets_no_text_of_a_build_or_a_registry_through(self):
        sources = self.enterContext(PackageIndex(self.folder / "sources"))
        line = HOSTILE.replace("\n", " ").replace("\r", " ")
        write_sdist(sources.folder, "yard-hostile", "1.0", c_source=f"#error {line}\n")
        site = Site(self.farm, sources, self.token, {"yard-hostile": "1.0"}, scheduler='kind = "local"\nmax_attempts = 1\n', name="hostile-site")
        site.file.write_text(site.file.read_text().replace(self.farm.url, f"{self.server.url}/some"))
        shown = self.assert_harmless(site.command("run"), site.environment)
        attempt = next(one for one in site.attempts() if one["package"] == "yard-hostile")
        logs = [path for path in site.folder.rglob("*") if path.is_file() and b"\x1b]0;owned" in path.read_bytes()]
        self.assertTrue(logs, shown)
        for arguments in (("status",), ("plan",), ("explain", attempt["cell"]), ("doctor", logs[0]), ("retry", attempt["cell"]), ("site", "check")):
            with self.subTest(arguments):
                self.assert_harmless(site.command(*arguments), site.environment)
        shown = on_terminal(site.command("logs", attempt["cell"]), site.environment, WIDTHS[0])
        self.assertEqual(CONTROLS.findall(shown), [], shown)
        self.assertIn("?[31m?2J", shown)  # the compiler itself drops the bell

    def test_the_indexer_and_the_governor_let_no_name_of_a_file_through(self):
        tree = self.folder / "tree"
        shutil.copytree(self.farm.tree, tree, symlinks=True)
        name = HOSTILE.replace("\n", " ")
        (tree / INDEX / "files" / name).write_text("")
        (tree / INDEX / "simple" / name).mkdir()
        indexer, governor = BIN / "wheelyard-indexer", BIN / "wheelyard-governor"
        shown = self.assert_harmless([indexer, "check", "--to", tree], self.farm.environment)
        source = self.folder / f"{name}.c"
        source.write_text("int main(void) { return 0; }\n")
        history = ("--history", self.folder / "history")
        for command in ((governor, *history, "--", "gcc", "-c", source, "-o", self.folder / "out.o"), (governor, "history", "show", *history),
                        (governor, "bound", "--", f"/nowhere/{name}")):
            shown += self.assert_harmless([*command], self.farm.environment)
        self.assertIn("?]0;owned??[31m", shown)


if __name__ == "__main__":
    main()
