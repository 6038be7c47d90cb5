#!/usr/bin/env python3
"""Scores the doctor on public reports: score.py PROGRAM {fresh,unseen}_logs.tsv [open|closed]

Right: a code that the row allows (`network.*`: any of that group). Unknown: no rule, or one that only says that the cause
is further up, or in the line's own text. Wrong: any other."""
import json
import pathlib
import subprocess
import sys

SAYS_NOTHING = {"build.stopped", "build.own_check", "build.rust_script", "compiler.does_not_work", "machine.crash"}


def plain(cell):
    cell = cell.replace("\\\\", "\x01").replace("\\n", "\n").replace("\\t", "\t")
    return cell.replace("\x01", "\\")


def likeliest(program, log):
    answer = subprocess.run([program, "doctor", "--json", "-"], input=log, stdout=subprocess.PIPE, text=True).stdout
    findings = json.loads(answer)["findings"]
    return findings[0]["code"] if findings else "none"


def judge(code, allowed):
    for one in allowed.split():
        if code == one or (one.endswith("*") and code.startswith(one[:-1])):
            return "right"
    return "unknown" if code == "none" or code in SAYS_NOTHING else "wrong"


def main():
    program, table = sys.argv[1:3]
    halves = sys.argv[3:] or ["open", "closed"]
    for half in halves:
        count = {"right": 0, "unknown": 0, "wrong": 0}
        for line in pathlib.Path(table).read_text().splitlines():
            if line.startswith("#"):
                continue
            hit, its_half, _, allowed, _, log = [plain(cell) for cell in line.split("\t")]
            if its_half != half:
                continue
            code = likeliest(program, log)
            verdict = judge(code, allowed)
            count[verdict] += 1
            if verdict != "right":
                print(f"{hit}: {verdict}: {code}, not {allowed}")
        print(half, count)


main()
