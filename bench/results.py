"""The newest result of each bench, one JSON file per question: bench/results/<question>.json. Earlier results are in git.

    options = results.parse_arguments(parser)    # adds --record and --results-dir
    rows = [results.row("64 connections", "requests / CPU s", "higher", ours, "nginx", theirs)]
    results.record(options, "http-page", "A project page beside nginx", rows)

The file, shortened:

    {
     "format": "wheelyard.bench/1",
     "question": "http-page",
     "title": "A project page beside nginx",
     "date": "2026-11-20",
     "machine": "2 cores, AMD EPYC, load 0.1 at the start and 1.9 at the end",
     "command": "bench/http_page.py --registry build/release/bin/wheelyard-registry",
     "recorded": "by the bench",
     "commit": "16e6e6e",
     "rows": [
      {"measured": "64 connections", "unit": "requests / CPU s", "better": "higher", "ours": 103383, "runs": 5,
       "peer": {"name": "nginx", "value": 77685}, "ratio": 1.33, "spread": [1.15, 1.42]}
     ],
     "notes": ["wrk shares the machine."]
    }

`ours` and the peer's `value` are medians of `runs` rounds. `ratio` is ours over the peer's, the median of the rounds; `spread`
has the lowest and the highest round. `peer`, `ratio`, `spread`, `commit` and `notes` are optional. `scripts/generate-figures`
creates bench/figures.md from these files.
"""

import argparse
import datetime
import json
import math
import os
import re
import shlex
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

FORMAT = "wheelyard.bench/1"
ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "bench" / "results"
BY_BENCH, BY_HAND = "by the bench", "by hand from the lab notes"

# Member → type. A float may be written as an integer.
RESULT_REQUIRED = {"format": str, "question": str, "title": str, "date": str, "machine": str, "command": str, "recorded": str, "rows": list}
RESULT_OPTIONAL = {"commit": str, "notes": list}
ROW_REQUIRED = {"measured": str, "unit": str, "better": str, "ours": float, "runs": int}
ROW_OPTIONAL = {"peer": dict, "ratio": float, "spread": list}
PEER_REQUIRED = {"name": str, "value": float}


class Malformed(ValueError):
    """Raises Malformed with the member's name and its problem."""


# --- reading ------------------------------------------------------------------------------------------------------------


def check(where: str, holds: bool, rule: str) -> None:
    if not holds:
        raise Malformed(f"{where}: {rule}")


def is_a(value: object, kind: type) -> bool:
    if kind is float:
        return type(value) in (int, float) and math.isfinite(value)
    return type(value) is kind and value != ""


def check_members(where: str, found: object, required: dict[str, type], optional: dict[str, type]) -> None:
    check(where, isinstance(found, dict), "must be an object")
    for name in required:
        check(where, name in found, f"member '{name}' is missing")
    for name, value in found.items():
        kind = (required | optional).get(name)
        check(where, kind is not None, f"unknown member '{name}'")
        check(f"{where}.{name}", is_a(value, kind), f"must be a {kind.__name__}, not {value!r}")


def check_row(where: str, row: dict) -> None:
    check_members(where, row, ROW_REQUIRED, ROW_OPTIONAL)
    check(f"{where}.better", row["better"] in ("lower", "higher"), "must be 'lower' or 'higher'")
    check(f"{where}.runs", row["runs"] > 0, "must be at least 1")
    if "peer" in row:
        check_members(f"{where}.peer", row["peer"], PEER_REQUIRED, {})
    check(f"{where}.ratio", "ratio" not in row or "peer" in row, "needs a peer")
    if "spread" in row:
        spread = row["spread"]
        check(f"{where}.spread", len(spread) == 2 and all(is_a(one, float) for one in spread), "must be two numbers")
        check(f"{where}.spread", "ratio" in row and spread[0] <= row["ratio"] <= spread[1], "must hold the ratio")


def validate(result: dict, question: str) -> None:
    """Raises Malformed. `question` is the file's name without .json."""
    check_members(question, result, RESULT_REQUIRED, RESULT_OPTIONAL)
    check(f"{question}.format", result["format"] == FORMAT, f"must be '{FORMAT}'")
    check(f"{question}.question", result["question"] == question, f"must be '{question}', as the file is called")
    check(f"{question}.question", re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", question) is not None, "must be lower-case words with hyphens")
    check(f"{question}.recorded", result["recorded"] in (BY_BENCH, BY_HAND), f"must be '{BY_BENCH}' or '{BY_HAND}'")
    check(f"{question}.date", re.fullmatch(r"\d{4}-\d\d-\d\d", result["date"]) is not None, "must be YYYY-MM-DD")
    commit = result.get("commit", "0000000")
    check(f"{question}.commit", re.fullmatch(r"[0-9a-f]{7,40}(\+changes)?", commit) is not None, "must be a git commit")
    check(f"{question}.notes", all(is_a(note, str) for note in result.get("notes", [])), "must be sentences")
    check(f"{question}.rows", result["rows"] != [], "must have a row")
    for number, row in enumerate(result["rows"]):
        check_row(f"{question}.rows[{number}]", row)


def read(path: Path) -> dict:
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Malformed(f"{path.stem}: not JSON: {error}") from error
    validate(result, path.stem)
    return result


# --- writing ------------------------------------------------------------------------------------------------------------


def render(result: dict) -> str:
    """One line per member and per item of a list."""
    members = []
    for name, value in result.items():
        text = json.dumps(value, ensure_ascii=False)
        if isinstance(value, list):
            text = "[\n" + ",\n".join("  " + json.dumps(item, ensure_ascii=False) for item in value) + "\n ]"
        members.append(f" {json.dumps(name)}: {text}")
    return "{\n" + ",\n".join(members) + "\n}\n"


def write(folder: Path, result: dict) -> Path:
    """Validates, then writes a temporary file and renames it."""
    validate(result, result["question"])
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{result['question']}.json"
    temporary = folder / f".{path.name}.{os.getpid()}.tmp"
    try:
        with temporary.open("w", encoding="utf-8") as file:
            file.write(render(result))
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def significant(value: float) -> float:
    """Rounds to four digits."""
    return round(value) if abs(value) >= 1000 else float(f"{value:.4g}")


def row(measured: str, unit: str, better: str, ours: Sequence[float] | float, peer: str = "", theirs: Sequence[float] | float = ()) -> dict:
    """`ours` and `theirs` are the rounds, in pairs, or one number each. A peer's value of 0 or less has no ratio."""
    ours, theirs = ([one] if isinstance(one, (int, float)) else list(one) for one in (ours, theirs))
    found = {"measured": measured, "unit": unit, "better": better, "ours": significant(statistics.median(ours)), "runs": len(ours)}
    if peer:
        found["peer"] = {"name": peer, "value": significant(statistics.median(theirs))}
        if min(theirs) > 0:
            ratios = [significant(one / other) for one, other in zip(ours, theirs, strict=True)]
            found["ratio"] = significant(statistics.median(ratios))
            if len(ratios) > 1:
                found["spread"] = [min(ratios), max(ratios)]
    return found


def ratio_text(row: dict) -> str:
    spread = " (rounds {:.3g} to {:.3g})".format(*row["spread"]) if "spread" in row else ""
    return f"{row['ratio']:.3g}{spread}" if "ratio" in row else "unknown"


# --- what the benches call ----------------------------------------------------------------------------------------------


def command_line(arguments: Sequence[str]) -> str:
    """The command without --record and without machine paths: paths below ROOT are relative, others become the option's name."""
    binaries = os.environ.get("WHEELYARD_BIN")
    words = [f"WHEELYARD_BIN={public(binaries, 'BIN')}"] if binaries else []
    words.append(f"bench/{Path(arguments[0]).name}")
    option = ""
    for word in arguments[1:]:
        name, equals, value = word.partition("=")
        if not name.startswith("--"):
            name, equals, value = "", "", word
        option = name or option
        placeholder = option.removeprefix("--").upper().replace("-", "_") or "FILE"
        if option not in ("--record", "--results-dir"):
            words.append(name + equals + shlex.quote(public(value, placeholder)) if value else name)
    return " ".join(words)


def public(word: str, placeholder: str) -> str:
    if not word.startswith("/"):
        return word
    return os.path.relpath(word, ROOT) if Path(word).is_relative_to(ROOT) else placeholder


def parse_arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    parser.add_argument("--record", action="store_true", help="write the result to bench/results/")
    parser.add_argument("--results-dir", type=Path, default=FOLDER, metavar="DIR", help="the folder for --record")
    options = parser.parse_args()
    options.command, options.load = command_line(sys.argv), os.getloadavg()[0]
    return options


def machine(load_at_start: float) -> str:
    model = re.search(r"(?m)^model name\s*: (.+)$", Path("/proc/cpuinfo").read_text())
    name = f", {model[1].strip()}" if model else ""
    return f"{os.cpu_count()} cores{name}, load {load_at_start:.1f} at the start and {os.getloadavg()[0]:.1f} at the end"


def commit() -> dict[str, str]:
    """The commit of the sources; the programs may be from another one. Empty outside of a clone."""
    git = ["git", "-C", str(ROOT)]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    if head.returncode != 0:
        return {}
    same = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", ".", ":!bench/results", ":!docs"]).returncode == 0
    return {"commit": head.stdout.strip() + ("" if same else "+changes")}


def record(options: argparse.Namespace, question: str, title: str, rows: list[dict], notes: Sequence[str] = ()) -> None:
    """Does nothing without --record."""
    if not options.record:
        return
    result = {"format": FORMAT, "question": question, "title": title, "date": datetime.date.today().isoformat(),
              "machine": machine(options.load), "command": options.command, "recorded": BY_BENCH, **commit(), "rows": rows}
    if notes:
        result["notes"] = list(notes)
    print(f"recorded in {write(options.results_dir, result)}; now run scripts/generate-figures --write")
