#!/usr/bin/env python3
"""check_undefined.py ARCHIVE OBJECT [ALLOWED…]: OBJECT, of a static library, calls nothing that it does not have itself, but ALLOWED.

For code that runs before libc is started, where a memcpy that the compiler thought of would crash."""

import subprocess
import sys

archive, wanted, *allowed = sys.argv[1:]
members = subprocess.run(["nm", "--undefined-only", "--format=posix", archive], check=True, capture_output=True, text=True).stdout
found, inside = None, False
for line in members.splitlines():
    if line.endswith("]:"):
        inside = line.endswith(f"[{wanted}]:")
        found = [] if inside and found is None else found
    elif inside and line:
        found.append(line.split()[0])
if found is None:
    sys.exit(f"{archive} has no {wanted}")
if calls := sorted(set(found) - set(allowed)):
    sys.exit(f"{wanted} calls what it may not: {', '.join(calls)}")
