"""The ways in which a disk breaks, and which of them to try at which call of a run that was watched (disk.py)."""

import errno
import itertools
import random
from collections import Counter

from support.disk import ALWAYS, WRITES, Disk
from support.full import IS_FULL

SEED = 20261120
SAMPLE = 12  # of the breaks of one operation

EIO, FULL_DISK, SHORT, KILL = "EIO once", "full from here on", "short write", "killed"


def arm(disk: Disk, way: str, number: int) -> None:
    if way == EIO:
        disk.break_at(number, errno.EIO)
    elif way == FULL_DISK:
        disk.break_at(number, errno.ENOSPC, times=ALWAYS)
    elif way == SHORT:
        disk.write_short_at(number)
    else:
        disk.kill_at(number)


def breaks_of(calls, ways) -> list[tuple[str, int]]:
    """Every way at every call where it makes sense, or a sample of them."""
    fillable = {"create", "mkdir", "mkdirat", "link", "linkat", "rename", "renameat", "ftruncate", "ftruncate64", "fsync",
                "fdatasync", *WRITES}  # what a full disk refuses
    found = [(way, call.number) for way, call in itertools.product(ways, calls)
             if (way != SHORT or call.name in WRITES) and (way != FULL_DISK or call.name in fillable)]
    return found if IS_FULL else random.Random(SEED).sample(found, min(SAMPLE, len(found)))


def say(operation: str, calls, broken: list[tuple[str, int]], outcomes: Counter) -> None:
    ways = ", ".join(f"{count} × {way}" for way, count in Counter(way for way, _ in broken).items())
    print(f"({operation}: {len(calls)} calls; {ways}; {', '.join(f'{count} {what}' for what, count in outcomes.items())})", end=" ",
          flush=True)
