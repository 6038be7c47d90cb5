"""docs/reference/real-wheels.md, out of the rows of compare.py."""

import collections

from known_reasons import REASONS

HEAD = """# Real wheels, as other tools see them

`tests/real_wheels/` pins {count} wheels by their sha256. For each, `wheelyard-registry check --json --facts` was compared with
{tools}:
machine, SONAME, NEEDED, search paths and needed versions of every ELF file with `readelf`; SM and PTX lists of every ELF file
with `cuobjdump`; gfx lists with `clang-offload-bundler`; machine, glibc floor and manylinux policy of the wheel with `auditwheel
show`: our `manylinux_fit` with its overall tag, and what our needed versions fulfil by its own tables with its symbol tag.

    tests/real_wheels/fetch.py --all      # about 6.6 GB into $XDG_CACHE_HOME/wheelyard; --small: 5 MB
    tests/real_wheels/compare.py --all --write docs/reference/real-wheels.md

{elves} ELF files: {equal} wheels agree in everything; {differing} have a disagreement, each with its reason below.
**Why** numbers those reasons. **Policy** is auditwheel's by symbols alone and, where another, with the libraries from outside.
**Check** names the rules that refuse the wheel or put it into quarantine: each is a real wheel of a public index.

| wheel | MB | ELF | machine | glibc | policy | CUDA | PTX | HIP | check | why |
|---|--:|--:|---|---|---|---|---|---|---|---|
"""


def short(names, prefix):
    return " ".join(name.removeprefix(prefix) for name in names)


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


def render(rows, tools, chosen):
    if chosen != "all":
        raise SystemExit("document: only the whole list (--all) makes the document")
    counts = collections.Counter(one.reason() for *_, here in rows for one in here)
    differing = sum(bool(here) for *_, here in rows)
    text = HEAD.format(count=len(rows), tools=", ".join(tools), elves=sum(len(theirs["elf_files"]) for _, _, theirs, _ in rows),
                       equal=len(rows) - differing, differing=differing)
    text += "".join(row(*one) for one in rows)
    text += "\n## Disagreements, and their reasons\n\n"
    for number, (wheel, member, fields, why) in enumerate(REASONS):
        where = f"`{wheel}`" + (f", `{member}`" if member not in ("", "*") else "")
        text += f"{number + 1}. {where}, {', '.join(sorted(fields))} ({counts[number]}): {why}\n"
    return text
