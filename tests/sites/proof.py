"""What proves each step at each site, and how its facts were verified: the table of docs/reference/site-boxes.md.

    proof.py            check the table
    proof.py --write    write it
"""

import argparse
import collections
import re
import sys

import facts

PAGE = facts.ROOT / "docs" / "reference" / "site-boxes.md"
BEGIN, END = "<!-- proof: tests/sites/proof.py writes it -->\n", "<!-- end of proof -->\n"
# A step: the kinds of facts that it follows, and the phases of the box that go through it.
STEPS = {
    "jobs": (("partition", "node", "job"), ("limits", "check")),
    "folders": (("mount",), ("install", "purge")),
    "modules": (("init", "modules", "provides"), ("build", "user_job")),
    "variables": (("variables",), ("build", "user_job")),
    "build": (("machine", "steps", "beside", "library", "provided"), ("build", "test")),
    "ranks": (("launcher",), ("test", "user_job")),
    "versions": (("want", "installed"), ("plan", "promote", "install")),
}


def box_rows(text):
    """Site → phase → what the box showed, from the table that site_box_test.py writes."""
    names, rows = [], {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "site" and "start" in cells:
            names = cells
        elif names and cells[0] in facts.SITES and len(cells) == len(names):
            rows[cells[0]] = dict(zip(names, cells))
    return rows


def table(text):
    rows = ["| site | step | proof | facts | " + " | ".join(f"`{kind}`" for kind in facts.VERIFIED) + " |", "|---|---|---|" + "---|" * 5]
    boxes = box_rows(text.partition(BEGIN)[0])
    total = collections.Counter()
    for site in facts.SITES:
        known = facts.read_facts(site)
        for step, (kinds, phases) in STEPS.items():
            count = collections.Counter(known["sources"][one["source"]]["verified"] for kind in kinds for one in known.get(kind, []))
            total += count
            shown = [phase for phase in phases if boxes.get(site, {}).get(phase) == "yes"]
            proof = f"box: {', '.join(shown)}" if shown else "its files against the facts"
            rows.append(f"| {site} | {step} | {proof} | {count.total()} | " + " | ".join(str(count[kind]) for kind in facts.VERIFIED) + " |")
    rows.append(f"| all | | | {total.total()} | " + " | ".join(str(total[kind]) for kind in facts.VERIFIED) + " |")
    return "\n".join(rows) + "\n"


def page(text):
    return re.sub(rf"(?<={re.escape(BEGIN)}).*?(?={re.escape(END)})", lambda _: table(text), text, flags=re.DOTALL)


def uncounted():
    """Kinds of facts that no step has."""
    counted = {kind for kinds, _ in STEPS.values() for kind in kinds}
    return sorted({kind for site in facts.SITES for kind, value in facts.read_facts(site).items() if isinstance(value, list)} - counted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="write the table")
    text = PAGE.read_text()
    new = page(text)
    if parser.parse_args().write:
        PAGE.write_text(new)
        return 0
    print("the table is current" if new == text else f"{PAGE.name} is old: run tests/sites/proof.py --write")
    return int(new != text)


if __name__ == "__main__":
    sys.exit(main())
