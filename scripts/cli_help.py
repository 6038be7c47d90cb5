"""The programs' own --help, read: for the pages of docs/reference/cli, the manual pages and the completions of shells."""

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

# Who reads the page of each program. Some list their subcommands in prose, so these are named here.
PROGRAMS = {
    "avail_wheels": ("researchers", ["login", "logout", "verify"]),
    "wheelyard-builder": ("staff of a site", []),
    "wheelyard-governor": ("researchers and staff of a site", ["history", "bound"]),
    "wheelyard-indexer": ("operators of a registry", []),
    "wheelyard-registry": ("operators of a registry", []),
}
TIMEOUT_S = 60
MAX_DEPTH = 3


@dataclass
class Option:
    names: list[str]
    value: str = ""  # "FILE"; empty: takes none
    choices: list[str] = field(default_factory=list)
    help: str = ""


@dataclass
class Command:
    words: list[str]  # after the program's name
    text: str  # what --help prints
    options: list[Option]
    choices: list[str]  # of the first positional argument
    commands: list["Command"]

    @property
    def summary(self) -> str:
        return self.text.split("\n", 1)[0]


def output_of(program: Path, *arguments: str) -> str:
    """Without settings of the caller's shell."""
    run = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S,
                         env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent", "COLUMNS": "110"})
    if run.returncode != 0:
        raise SystemExit(f"{program} {' '.join(arguments)} exits with {run.returncode}:\n{run.stderr}")
    return run.stdout


def help_of(program: Path, words: list[str]) -> str:
    return "\n".join(line.rstrip() for line in output_of(program, *words, "--help").strip("\n").splitlines())


def subcommands(text: str) -> list[str]:
    """The names in the paragraphs `Subcommands:` and `Commands …:` of a help text; a line that is indented deeper continues another."""
    sections = re.findall(r"^(?:subcommands|commands [^\n]*):\n((?:[ \t]+.*\n?)+)", text, re.MULTILINE | re.IGNORECASE)
    return [name for section in sections for name in re.findall(r"^  ([a-z][a-z0-9-]*)\b", section, re.MULTILINE)]


def options_of(text: str) -> list[Option]:
    options: list[Option] = []
    for line in text.splitlines():
        if re.match(r"^ {10,}\S", line) and options:  # of a description: its first line below a long name, or its next ones
            options[-1].help = f"{options[-1].help} {line.strip()}".strip()
            continue
        found = re.match(r"^  ((?:-\w,\s?)?--[a-z][a-z0-9-]*|-\w)((?: \S+)*)(?:  +(.*))?$", line)
        if not found:
            continue
        names = re.split(r",\s?", found.group(1))
        value = found.group(2).replace("REQUIRED", "").replace("...", "").strip()
        choices = re.search(r"\{([^}]*)\}", value)
        options.append(Option(names, value.split(":")[0].split(" ")[0], choices.group(1).split(",") if choices else [],
                              (found.group(3) or "").strip()))
    return options


def positional_choices(text: str) -> list[str]:
    section = re.search(r"^positionals:\n(.*)", text, re.MULTILINE | re.IGNORECASE)
    choices = re.search(r"\{([^}]*)\}", section.group(1)) if section else None
    return choices.group(1).split(",") if choices else []


def read_command(program: Path, words: list[str] | None = None, named: list[str] | None = None) -> Command:
    words = words or []
    text = help_of(program, words)
    names = (named or subcommands(text)) if len(words) < MAX_DEPTH else []
    return Command(words, text, options_of(text), positional_choices(text), [read_command(program, [*words, name]) for name in names])


def all_commands(command: Command) -> list[Command]:
    return [command] + [each for one in command.commands for each in all_commands(one)]
