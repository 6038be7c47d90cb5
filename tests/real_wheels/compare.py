#!/usr/bin/env python3
"""Compares what `wheelyard-registry check` says about real wheels with what other tools say about them.

  fetch.py [--small|--all]         first: the wheels, auditwheel and cuobjdump
  compare.py [--small|--all] [--list chosen.tsv] [--check build/release/bin/wheelyard-registry] [--write tests/real_wheels/real-wheels.md]

readelf judges machine, SONAME, NEEDED, RPATH/RUNPATH and needed versions of every ELF file; cuobjdump the SM and PTX lists,
clang-offload-bundler (CLANG_OFFLOAD_BUNDLER names another one) the gfx lists of every ELF file, llvm-readelf those of code
objects; auditwheel the machine, the glibc floor and the manylinux policy of each wheel; abi3audit the modules of abi3 wheels. Every disagreement must match a row of known_reasons.py; exit status 1:
one does not, 2: something could not be run. Answers of the other tools are kept beside the wheels (--fresh asks them again).
"""

import argparse
import collections
import fnmatch
import json
import pathlib
import subprocess
import sys
from dataclasses import dataclass

import document
from fetch import LIST, add_set_arguments, prepare_tools, wheels_of
from known_reasons import OF_THE_MACHINE, REASONS
from policies import best_policy, policy_family
from references import Tools, read_references

ROOT = pathlib.Path(__file__).resolve().parents[2]
PER_ELF = ("machine", "soname", "needed", "search_paths", "version_needs", "cuda_sm", "cuda_ptx", "hip_gfx")


@dataclass(frozen=True)
class Disagreement:
    wheel: str
    member: str  # empty: of the wheel as a whole
    field: str
    ours: object
    theirs: object

    def reason(self):
        return next((number for number, (wheel, member, fields, _) in enumerate(REASONS)
                     if fnmatch.fnmatch(self.wheel.removesuffix(".whl"), wheel) and fnmatch.fnmatch(self.member, member) and self.field in fields), None)


def check_wheel(program, path):
    done = subprocess.run([program, "check", "--json", "--facts", path], capture_output=True, text=True)
    if done.returncode == 2 or not done.stdout:
        raise SystemExit(f"compare: {program} check {path.name}: {done.stderr.strip()}")
    return json.loads(done.stdout)["wheels"][0]


def machine_of(tag):
    for family in ("manylinux_", "musllinux_"):
        if tag.startswith(family):
            return tag.removeprefix(family).split("_", 2)[-1]
    return tag.split("_", 1)[-1]


def glibc_floor(versioned_symbols):
    versions = {tuple(map(int, symbol.removeprefix("GLIBC_").split("."))) for symbols in versioned_symbols.values()
                for symbol in symbols if symbol.startswith("GLIBC_") and symbol[6:7].isdigit()}
    return ".".join(map(str, max(versions))) if versions else ""


def compare_elves(wheel, ours, theirs):
    mine = {elf["name"]: elf for elf in ours}
    if set(mine) != set(theirs):
        yield Disagreement(wheel, "", "elf_files", sorted(set(mine) - set(theirs)), sorted(set(theirs) - set(mine)))
    for name in sorted(set(mine) & set(theirs)):
        for field in PER_ELF:
            a, b = mine[name][field], theirs[name][field]
            if field == "search_paths":  # an empty one, the current folder, is a finding of ours
                a = [path for path in a if path]
            if a != b:
                same_but_family = field == "cuda_sm" and sorted({arch.removesuffix("f") for arch in a}) == b
                yield Disagreement(wheel, name, "cuda_family" if same_but_family else field, a, b)
        for error in ("cuobjdump_error", "bundler_error"):
            if error in theirs[name]:
                yield Disagreement(wheel, name, error, "", theirs[name][error])


def compare_audit(wheel, document_of, audit, policies):
    facts = document_of["facts"]
    if "error" in audit or audit["pure"]:
        if facts["elf_files"] != 0:
            yield Disagreement(wheel, "", "auditwheel", f"{facts['elf_files']} ELF files", audit.get("error", "pure"))
        return
    machine = machine_of(audit["sym_tag"])
    if facts["machines"] != [machine]:
        yield Disagreement(wheel, "", "machines", facts["machines"], [machine])
    floor = glibc_floor(audit["versioned_symbols"])
    if facts["symbol_floors"].get("GLIBC", "") != floor:
        yield Disagreement(wheel, "", "glibc", facts["symbol_floors"].get("GLIBC", ""), floor)
    table, elves = policies[policy_family(wheel)], document_of["elf_files"]
    by_symbols = best_policy(table, machine, elves, None)
    overall = facts.get("manylinux_fit") or facts.get("musllinux_fit")
    for field, ours in (("sym_tag", by_symbols), ("overall_tag", overall)):
        if ours != audit[field]:
            yield Disagreement(wheel, "", field, ours, audit[field])


def compare_abi3(wheel, document_of, audit):
    """The modules that import what no Stable ABI has, or what is newer than the tag."""
    if not audit:
        return
    if "error" in audit:
        yield Disagreement(wheel, "", "abi3audit_error", "", audit["error"])
        return
    for field, code, theirs in (("abi3_outside", "elf.abi3_not_limited", lambda one: one["non_abi3_symbols"]),
                                ("abi3_too_new", "elf.abi3_too_new", lambda one: one["future_abi3_objects"])):
        mine = sorted({verdict["member"].split("/")[-1] for verdict in document_of["verdicts"] if verdict["code"] == code})
        found = sorted(name for name, one in audit.items() if theirs(one))
        if mine != found:
            yield Disagreement(wheel, "", field, mine, found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_set_arguments(parser)
    parser.add_argument("--check", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "wheelyard-registry")
    parser.add_argument("--write", type=pathlib.Path, help="the document to write")
    parser.add_argument("--fresh", action="store_true", help="ask the other tools again")
    given = parser.parse_args()
    tools = Tools(prepare_tools(given.cache))
    rows, found = [], []
    for wheel in wheels_of(given.chosen, given.list):
        if not (given.cache / wheel.filename).exists():
            print(f"compare: {wheel.filename} is not in {given.cache}: run fetch.py first", file=sys.stderr)
            return 2
        ours = check_wheel(given.check, given.cache / wheel.filename)
        theirs = read_references(tools, wheel, given.cache, given.fresh)
        here = [*compare_elves(wheel.filename, ours["elf_files"], theirs["elf_files"]),
                *compare_audit(wheel.filename, ours, theirs["auditwheel"], tools.policies),
                *compare_abi3(wheel.filename, ours, theirs["abi3audit"])]
        unexplained = [one for one in here if one.reason() is None]
        print(f"{'equal    ' if not here else 'explained' if not unexplained else 'DIFFERS  '}  {wheel.filename}", flush=True)
        for one in unexplained:
            print(f"    {one.member or 'the wheel'}: {one.field}: ours {one.ours!r}, theirs {one.theirs!r}")
        rows.append((wheel, ours, theirs, here))
        found += here
    unexplained = sum(one.reason() is None for one in found)
    print(f"{len(rows)} wheels, {sum(len(theirs['elf_files']) for _, _, theirs, _ in rows)} ELF files: "
          f"{len(found)} disagreements, {unexplained} unexplained")
    used = collections.Counter(one.reason() for one in found)
    for number, (wheel, member, fields, why) in enumerate(REASONS):
        here = any(fnmatch.fnmatch(row[0].filename.removesuffix(".whl"), wheel) for row in rows)
        if number not in used and given.chosen == "all" and here and not why.startswith(OF_THE_MACHINE):
            print(f"compare: a known reason explains nothing any more: {wheel} {member} {fields}")
            unexplained += 1
    if given.write:
        given.write.write_text(document.render(rows, tools.versions(), given.chosen, given.list == LIST))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
