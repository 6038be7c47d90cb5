"""What proves each step at each site, how its facts were verified, and how many changed facts are noticed: tables of
tests/sites/site-boxes.md.

    proof.py            check the tables
    proof.py --write    write them
"""

import argparse
import collections
import re
import sys

import facts

PAGE = facts.ROOT / "tests" / "sites" / "site-boxes.md"
BEGIN, END = "<!-- proof: tests/sites/proof.py writes it -->\n", "<!-- end of proof -->\n"
MUTATIONS_BEGIN, MUTATIONS_END = "<!-- mutations: tests/sites/proof.py writes them -->\n", "<!-- end of mutations -->\n"
# A step: the kinds of facts that it follows, and the phases of the box that go through it.
STEPS = {
    "jobs": (("partition", "qos", "node", "job"), ("limits", "check")),
    "folders": (("mount",), ("install", "purge")),
    "modules": (("init", "modules", "provides"), ("build", "user_job")),
    "variables": (("variables",), ("build", "user_job")),
    "build": (("machine", "steps", "beside", "library", "provided", "promise"), ("build", "test")),
    "ranks": (("launcher",), ("test", "user_job")),
    "versions": (("want", "installed", "required"), ("plan", "promote", "install")),
    "users": (("supporting", "choice", "harmless", "libtorch"), ("install", "user_job")),
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


def mutation_table(counts):
    """`counts`: site → (changes of facts and lines, those that the check does not notice)."""
    rows = [f"| {site} | {total} | {total - len(missed)} |" for site, (total, missed) in counts.items()]
    total = sum(total for total, _ in counts.values())
    noticed = total - sum(len(missed) for _, missed in counts.values())
    return "\n".join(["| site | facts and lines changed | noticed |", "|---|---|---|", *rows, f"| all | {total} | {noticed} |"]) + "\n"


def between(begin, end, new, text):
    return re.sub(rf"(?<={re.escape(begin)}).*?(?={re.escape(end)})", lambda _: new, text, flags=re.DOTALL)


def page(text):
    return between(BEGIN, END, table(text), text)


def page_with_counts(text, counts):
    return between(MUTATIONS_BEGIN, MUTATIONS_END, mutation_table(counts), text)


def uncounted():
    """Kinds of facts that no step has."""
    counted = {kind for kinds, _ in STEPS.values() for kind in kinds}
    return sorted({kind for site in facts.SITES for kind, value in facts.read_facts(site).items() if isinstance(value, list)} - counted)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--write", action="store_true", help="write the tables")
    text = PAGE.read_text()
    new = page_with_counts(page(text), {site: facts.unnoticed(site) for site in facts.SITES})
    if parser.parse_args().write:
        PAGE.write_text(new)
        return 0
    print("the tables are current" if new == text else f"{PAGE.name} is old: run tests/sites/proof.py --write")
    return int(new != text)


if __name__ == "__main__":
    sys.exit(main())
