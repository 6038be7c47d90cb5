"""Reads the shell that the builder renders with shellcheck: the parts in the templates/ folders of builder, and whole scripts of tests/golden/builder.

A part is half a script, so of parts only errors count; of scripts also warnings."""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "sites"))
import golden

SKIPPED = 77
# What no rendered script can follow: a job's options come before its `#!`, `begin done` is a call of ours, and a short script does not use
# every variable that all get.
OF_SCRIPTS = ("--severity=warning", "--exclude=SC1128,SC1010,SC2034")
OF_PARTS = ("--severity=error", "--exclude=SC2145")  # {{index}}"$@": what is filled in ends with a space


def filled(part):
    """With a command where whole lines are filled in, and 0 for other values."""
    return re.sub(r"\{\{\w+\}\}", "0", re.sub(r"^\{\{\w+\}\}", ":\n", part, flags=re.MULTILINE))


def complaints(options, texts):
    """Of each NAME → text, as lines that begin with NAME."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in texts.items():
            (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / name).write_text(text)
        return subprocess.run(["shellcheck", "--shell=bash", "--format=gcc", *options, *texts], cwd=folder, capture_output=True, text=True,
                              check=False).stdout.splitlines()


def main():
    if not shutil.which("shellcheck"):
        print("layers-shell: skipped, there is no shellcheck: scripts/install-deps --format installs it")
        return SKIPPED
    parts = {path.relative_to(ROOT).as_posix(): filled(path.read_text()) for path in sorted((ROOT / "builder").glob("**/templates/*.sh"))}
    scripts = {path.relative_to(ROOT).as_posix(): golden.read(path.relative_to(golden.GOLDEN).with_suffix("").as_posix())
               for path in sorted([*(golden.GOLDEN / "builder").rglob("*.sh"), *(golden.GOLDEN / "builder/sites").glob("*.diff")])}
    assert parts and scripts
    assert complaints(OF_PARTS, {"broken.sh": "if true\n"}) and complaints(OF_SCRIPTS, {"unset.sh": "echo $nowhere\n"})
    found = complaints(OF_PARTS, parts) + complaints(OF_SCRIPTS, scripts)
    print("\n".join([*found, f"layers-shell: {len(parts)} parts, {len(scripts)} scripts, {len(found)} complaints"]))
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
