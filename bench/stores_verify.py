#!/usr/bin/env python3
"""How long does `verify` of an S3 store take?

Uploads wheels into a registry over a real store of tests/system/support/s3_store.py (Swift, versitygw, radosgw), each of which is two
objects, and runs `verify --restart`. Prints its seconds of wall time and of its own CPU.

    WHEELYARD_BIN=build/release/bin bench/stores_verify.py [--kind swift] [--wheels 500] [--rounds 3]

Nothing listens beyond 127.0.0.1.
"""

import argparse
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "system"))
from support.clients import RawUpload  # noqa: E402
from support.farm import INDEX, Farm  # noqa: E402
from support.s3_store import S3Store  # noqa: E402
from support.wheels import Wheel  # noqa: E402

import results  # noqa: E402

CLIENTS = 8


def upload(farm, token, folder, number):
    status, problem = RawUpload(farm, token, Wheel(f"project-{number}").write(folder), INDEX).send()
    if status != 200:
        raise SystemExit(f"{status} {problem}")


def verify(farm):
    """Seconds of wall time and of CPU."""
    began, before = time.monotonic(), os.times()
    done = farm.run("wheelyard-registry", "verify", "-c", farm.config, "--restart", "-q", timeout=3600)
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    after = os.times()
    return time.monotonic() - began, after.children_user + after.children_system - before.children_user - before.children_system


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--kind", default="swift", choices=("swift", "versitygw", "radosgw"))
    arguments.add_argument("--wheels", type=int, default=500)
    arguments.add_argument("--rounds", type=int, default=3)
    given = results.parse_arguments(arguments)
    with tempfile.TemporaryDirectory(prefix="wheelyard-verify-") as folder:
        folder = Path(folder)
        (folder / "farm").mkdir()
        with S3Store(folder / "store", given.kind) as store, Farm((INDEX,), folder / "farm", stores=store.settings()) as farm:
            token = farm.create_token()
            farm.start()
            with ThreadPoolExecutor(CLIENTS) as clients:
                list(clients.map(lambda number: upload(farm, token, folder / "wheels", number), range(given.wheels)))
            wall, cpu = zip(*(verify(farm) for _ in range(given.rounds)))
    what = f"verify of {2 * given.wheels:,} objects on {given.kind}"
    rows = [results.row(what, "s", "lower", wall), results.row(what, "s of CPU", "lower", cpu)]
    print("  ".join(f"{row['measured']}: {row['ours']:.1f} {row['unit']}" for row in rows))
    results.record(given, "stores-verify", "A check of an S3 store", rows)


if __name__ == "__main__":
    main()
