"""tests/real_wheels/real-wheels.md, out of the rows of compare.py."""

import collections
import textwrap

from known_reasons import REASONS

HEAD = """# Real wheels, as other tools see them

*Reference for operators and contributors: how our inspection of {count} real wheels compares with other
tools, wheel by wheel.*

`tests/real_wheels/` pins the wheels by their sha256. For each of them `wheelyard-registry check --json --facts` was
compared with these tools:
{tools}.

| tool | compared |
|---|---|
| `readelf` | machine, SONAME, NEEDED, search paths and needed versions of every ELF file |
| `cuobjdump` | SM and PTX lists of every ELF file, cubins included |
| `clang-offload-bundler`, `llvm-readelf` | gfx lists of libraries and of code objects |
| `abi3audit` | of abi3 wheels: modules that import what no Stable ABI has, or what the tag's Python lacks |
| `auditwheel show` | machine and glibc minimum of the wheel; our `manylinux_fit` with its overall tag; the policy that our needed versions satisfy, by its own tables, with its symbol tag |

    tests/real_wheels/fetch.py --all      # about 6.6 GB into $XDG_CACHE_HOME/wheelyard; --small: 5 MB
    tests/real_wheels/compare.py --all --write tests/real_wheels/real-wheels.md

{elves} ELF files: {equal} wheels agree in everything; {differing} have a disagreement, each with its reason below. The column
*why* has the number of the reason. *policy* is auditwheel's by symbols alone and, if another, with the libraries from
outside. *check* names the rules that refuse or quarantine the wheel: each is a real wheel of a public index.

| wheel | MB | ELF | machine | glibc | policy | CUDA | PTX | HIP | check | why |
|---|--:|--:|---|---|---|---|---|---|---|---|
"""


CHOSEN_HEAD = """# Wheels that queries chose, as other tools see them

*Reference for operators and contributors: how our inspection of {count} wheels that nobody here had seen compares with other
tools, wheel by wheel.*

`tests/real_wheels/choose.py` chose them by two queries over the most downloaded packages, in the order of the hits;
queries and list were committed before the first was checked. Compared as [the wheels that people
picked](real-wheels.md), with these tools:
{tools}.

    tests/real_wheels/fetch.py --all --list tests/real_wheels/chosen.tsv      # 0.9 GB
    tests/real_wheels/compare.py --all --list tests/real_wheels/chosen.tsv --write tests/real_wheels/chosen-wheels.md

{elves} ELF files: {equal} wheels agree in everything; {differing} have a disagreement, each with its reason below, which
is in the column *why*. *policy* is auditwheel's by symbols alone and, if another, with the libraries from outside.
*check* names the rules that refuse or quarantine the wheel.

| wheel | MB | ELF | machine | glibc | policy | CUDA | PTX | HIP | check | why |
|---|--:|--:|---|---|---|---|---|---|---|---|
"""


def short(names, prefix):
    return " ".join(name.removeprefix(prefix) for name in names)


def listed(item):
    return "\n".join(textwrap.wrap(item, 118, subsequent_indent="   ", break_long_words=False, break_on_hyphens=False)) + "\n"


def policy(audit):
    if audit.get("pure", True):
        return ""
    symbols, overall = audit["sym_tag"], audit["overall_tag"]
    return symbols if symbols == overall else f"{symbols}, {overall}"


def row(wheel, ours, theirs, disagreements):
    facts = ours["facts"]
    codes = sorted({verdict["code"] for verdict in ours["verdicts"] if verdict["severity"] in ("reject", "quarantine")})
    reasons = sorted({one.reason() + 1 for one in disagreements if one.reason() is not None})
    cells = [f"`{wheel.filename.removesuffix('.whl')}`", f"{wheel.size / 1e6:.1f}", facts["elf_files"] or "", " ".join(facts["machines"]),
             facts["symbol_floors"].get("GLIBC", ""), policy(theirs["auditwheel"]), short(facts["cuda_sm"], "sm_"),
             short(facts["cuda_ptx"], "compute_"), short(facts["hip_gfx"], "gfx"), ", ".join(f"`{code}`" for code in codes),
             " ".join(map(str, reasons))]
    return "| " + " | ".join(map(str, cells)) + " |\n"


def render(rows, tools, chosen, is_default):
    if chosen != "all":
        raise SystemExit("document: only the whole list (--all) makes the document")
    counts = collections.Counter(one.reason() for *_, here in rows for one in here)
    differing = sum(bool(here) for *_, here in rows)
    text = (HEAD if is_default else CHOSEN_HEAD).format(count=len(rows), tools=textwrap.fill(", ".join(tools), 117, break_on_hyphens=False), elves=sum(len(theirs["elf_files"]) for _, _, theirs, _ in rows),
                       equal=len(rows) - differing, differing=differing)
    text += "".join(row(*one) for one in rows)
    text += "\n## Disagreements, and their reasons\n\n"
    for number, (wheel, member, fields, why) in enumerate(REASONS):
        if not is_default and not counts[number]:
            continue
        where = f"`{wheel}`" + (f", `{member}`" if member not in ("", "*") else "")
        text += listed(f"{number + 1}. {where}, {', '.join(sorted(fields))} ({counts[number]}): {why}")
    return text
