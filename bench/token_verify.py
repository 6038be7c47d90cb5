#!/usr/bin/env python3
"""What does the check of an ID token cost, compared with its signature alone?

Checks a token of each algorithm again and again (token_verify.cpp), and the bare signature by libcrypto in the same rounds.
Prints CPU time per token, and the ratio.

    cmake --build --preset release --target token_verify
    bench/token_verify.py --build build/release [--rounds 15]
"""

import argparse
import pathlib
import statistics
import subprocess

import results

TOKENS = results.ROOT / "tests" / "registry" / "identity" / "data" / "tokens.json"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", required=True, type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, default=15)
    given = results.parse_arguments(arguments)
    program = next(path for path in (given.build / "bin" / "token_verify", given.build / "token_verify") if path.exists())
    found = {}
    for line in subprocess.run([program, TOKENS, str(given.rounds)], capture_output=True, text=True, check=True).stdout.splitlines():
        name, whole, signature = line.split()
        found.setdefault(name, []).append((float(whole), float(signature)))
    rows = []
    for name, pairs in found.items():
        whole, signature = (list(column) for column in zip(*pairs))
        row = results.row(name, "CPU µs", "lower", whole, "the signature alone", signature)
        rows.append(row)
        print(f"{name}  {statistics.median(whole):7.1f} µs, signature {statistics.median(signature):7.1f} µs, "
              f"ratio {results.ratio_text(row)}")
    results.record(given, "token-verify", "The check of an ID token", rows)


if __name__ == "__main__":
    main()
