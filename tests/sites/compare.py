#!/usr/bin/env python3
"""Compares the build scripts of the site configurations with the commands of the sites' own documents.

    compare.py                        the committed facts (SITE.commands) against tests/golden/builder/sites
    compare.py --documents DIR        the facts against the documents themselves, too
    compare.py --documents DIR --write    takes the facts from the documents again

A command of the document is found in the script, or is on the list of differences with its reason; so does every command of
the script that neither the document nor the frame of every script (debian12's) has. An entry that nothing needs is an error: the
list stays true. Commands are normalised: prompts, `export`, quotes, `-q` and the order of assignments make no difference, and
`module load a b` is `module a` and `module b`.
"""

import argparse
import re
import sys
import tomllib
from pathlib import Path

import golden

HERE = Path(__file__).resolve().parent
DOCUMENTS = {
    "bede-gh200": "000_",
    "archer2": "001_",
    "derecho": "002_",
    "alliance": "003_",
    "frontier": "004_",
}
ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=((?:\"[^\"]*\"|'[^']*'|\$\([^)]*\)|\\.|[^\s;])*)")


def plain(text):
    """Without quotes, comments and runs of blanks; $NAME and ${NAME} are the same."""
    text = re.sub(r"(^|\s)#(?!SBATCH|PBS).*$", "", text)
    text = re.sub(r"\$\{([A-Za-z_][A-Za-z0-9_]*)-?\}", r"$\1", text)
    text = text.replace('"', "").replace("'", "")
    return " ".join(text.split())


def normalise(line):
    """One line of shell as a list of normalised commands."""
    line = line.strip()
    line = re.sub(r"^(\$|\(venv\) name@server:~\]|name@server:~\]\$)\s+", "", line)
    if re.match(r"#(SBATCH|PBS) ", line):
        return [plain(line)]
    line = plain(line) if line.startswith("#") else line
    if not line or line.startswith("#"):
        return []
    if re.match(r"module\b", line):
        words = [word for word in plain(line).split()[1:] if word != "-q"]
        if words[:1] == ["load"]:
            return ["module " + word for word in words[1:]]
        return ["module " + " ".join(words)]
    found = []
    rest = re.sub(r"^export\s+", "", line)
    while match := ASSIGNMENT.match(rest):
        found.append(f"env {match[1]}={plain(match[2])}")
        rest = rest[match.end() :].strip().lstrip(";").strip()
    if plain(rest):
        found.append(plain(rest))
    return found


def joined(lines):
    """Lines with the continuation of `\\` undone."""
    held = ""
    for line in lines:
        if line.rstrip().endswith("\\"):
            held += line.rstrip()[:-1] + " "
            continue
        yield held + line
        held = ""
    if held:
        yield held


def shell_blocks(text):
    """The lines of the document's blocks of shell: ``` of Markdown, code-block of reStructuredText."""
    if ".. code-block::" in text:
        block = None
        for line in text.splitlines():
            if match := re.match(r"(\s*)\.\. code-block:: (\w+)", line):
                block = (len(match[1]), match[2])
            elif block and line.strip() and len(line) - len(line.lstrip()) <= block[0]:
                block = None
            elif block and block[1] == "bash" and line.strip():
                yield line.strip()
        return
    inside, language = False, ""
    for line in text.splitlines():
        if match := re.match(r"\s*```(\w*)", line):
            inside, language = not inside, match[1] if not inside else ""
        elif inside and language in ("", "bash") and line.strip():
            yield line.strip()


def is_output(line):
    """What a document shows of a program's answer is no command; nor are the lines inside a quoted program."""
    return bool(re.match(r"(Architecture|CPU|Byte Order|Vendor|Model|Thread|Core|On-line|ERROR|nvcc error|\[\d|\[W|\(errno|ninja:|pytorch/aten"
                         r"|ATen/|/usr/lib/gcc|\d+ \||\||convert |initializing|Horovod v|Available|CMAKE_CXX_FLAGS:|\[[ X]\])", line))


def document_commands(text):
    found = []
    for line in joined(shell_blocks(text)):
        if is_output(line):
            continue
        for command in normalise(line):
            if command not in found:
                found.append(command)
    return found


def script_commands(text):
    """The commands of a rendered script; Python between <<'END' and END is one."""
    found, inside = [], False
    for line in joined(text.splitlines()):
        if inside:
            inside = line != "END"
            continue
        inside = line.endswith("<<'END'")
        found += [command for command in normalise(line) if command not in found]
    return found


class Difference:
    def __init__(self, table):
        self.document = table.get("document", [])
        self.script = table.get("script", [])
        self.why = table["why"]
        self.used = set()

    def covers(self, side, command):
        for pattern in getattr(self, side):
            if re.fullmatch(pattern, command):
                self.used.add((side, pattern))
                return True
        return False

    def unused(self):
        patterns = [(side, pattern) for side in ("document", "script") for pattern in getattr(self, side)]
        return [pattern for pattern in patterns if pattern not in self.used]


def read_differences(site):
    tables = tomllib.loads((HERE / f"{site}.differences.toml").read_text())["difference"]
    assert all(table["why"].strip() for table in tables)
    return [Difference(table) for table in tables]


def compare(site):
    """What is wrong with the site's list of differences, as sentences. all.differences.toml has what every site's script has."""
    problems = []
    facts = (HERE / f"{site}.commands").read_text().splitlines()
    frame = script_commands(golden.read("builder/sites/debian12"))
    script = []
    for text in golden.of_site("sites", site).values():
        script += [command for command in script_commands(text) if command not in script]
    own = read_differences(site)
    differences = own + read_differences("all")
    for command in facts:
        if command not in script and not [d for d in differences if d.covers("document", command)]:
            problems.append(f"{site}: the script lacks the document's command, and no reason is listed: {command}")
    for command in script:
        if command in facts or command in frame:
            continue
        if not [d for d in differences if d.covers("script", command)]:
            problems.append(f"{site}: the script has what the document lacks, and no reason is listed: {command}")
    for difference in own:
        problems += [f"{site}: this entry is needed no more: {side}: {pattern}" for side, pattern in difference.unused()]
    return problems


def check_facts(site, documents, write):
    [document] = documents.glob(DOCUMENTS[site] + "*")
    commands = document_commands(document.read_text(errors="replace"))
    file = HERE / f"{site}.commands"
    if write:
        file.write_text("\n".join(commands) + "\n")
    known = file.read_text().splitlines()
    return [f"{site}: not in {file.name}: {command}" for command in commands if command not in known] + [
        f"{site}: not in the document: {command}" for command in known if command not in commands
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--documents", type=Path, metavar="DIR", help="the folder with the sites' documents")
    parser.add_argument("--write", action="store_true", help="take the facts from the documents again")
    arguments = parser.parse_args()
    problems = []
    for site in DOCUMENTS:
        if arguments.documents:
            problems += check_facts(site, arguments.documents, arguments.write)
        problems += compare(site)
        listed = read_differences(site) + read_differences("all")
        print(f"{site}: {len((HERE / f'{site}.commands').read_text().splitlines())} commands, {len(listed)} differences")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
