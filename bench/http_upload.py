#!/usr/bin/env python3
"""How fast is an upload beside a bare program that receives, hashes, unpacks and writes the same bytes (upload_bound.cpp)?

A wheel of --mib, half of it noise, all of it deflated, is sent to wheelyard-registry (its form, checked and published: the answer
says that pip finds it) and to the bare program, in turn. Printed: MB/s, the ratio of the two (ours over the bare one's; 1 is the
bound), and the registry's memory beside the page cache before and at the most during the upload.

    cmake --build --preset release --target wheelyard-registry upload_bound && scripts/prepare-clients
    bench/http_upload.py --build build/release [--mib 4096] [--rounds 3] [--folder DIR]

DIR needs five times the wheel's size. Nothing listens beyond 127.0.0.1.
"""

import argparse
import base64
import hashlib
import http.client
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

import results

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "system"))

MIB = 1 << 20
MEMBER_MIB = 256
INDEX = "debian12"
BOUNDARY = "a" * 60


def write_wheel(folder, mib):
    """Members of 256 MiB that pack to about their half: `mib` is the file's size, more or less."""
    from support.wheels import Wheel
    wheel = Wheel("bench-large", "1.0")
    members = wheel.members()
    record_name = next(name for name in members if name.endswith("/RECORD"))
    path = folder / wheel.filename
    noise = random.Random(1).randbytes(MIB // 2)
    rows = ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        number = 0
        while path.stat().st_size < mib * MIB:
            name = f"{wheel.module}/part{number}.bin"
            digest = hashlib.sha256()
            size = min(MEMBER_MIB, 2 * mib)
            with archive.open(name, "w", force_zip64=True) as member:
                for piece_number in range(size):
                    piece = (number * size + piece_number).to_bytes(8, "little") + noise[8:] + bytes(MIB // 2)
                    digest.update(piece)
                    member.write(piece)
            rows += f"{name},sha256={base64.urlsafe_b64encode(digest.digest()).rstrip(b'=').decode()},{size * MIB}\n"
            archive.fp.flush()
            number += 1
        members[record_name] = rows.encode() + members[record_name]
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def form_of(wheel, sha256):
    """The form's bytes before and after the file."""
    fields = {":action": "file_upload", "protocol_version": "1", "name": "bench-large", "version": "1.0", "filetype": "bdist_wheel",
              "pyversion": "py3", "sha256_digest": sha256}
    head = "".join(f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items())
    head += (f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="content"; filename="{wheel.name}"\r\n'
             "Content-Type: application/octet-stream\r\n\r\n")
    return head.encode(), f"\r\n--{BOUNDARY}--\r\n".encode()


def send(port, method, target, wheel, before, after, headers):
    """MB/s until the answer."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=3600)
    connection.putrequest(method, target)
    size = wheel.stat().st_size
    for name, value in {"Content-Length": str(len(before) + size + len(after)), **headers}.items():
        connection.putheader(name, value)
    connection.endheaders(before)
    with wheel.open("rb") as file:
        connection.sock.sendfile(file)
    connection.send(after)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    if answer.status != 200:
        raise SystemExit(f"{method} {target}: {answer.status} {body[:500]!r}")
    return size / 1e6 / (time.monotonic() - began)


def memory_kib(pid, name):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise SystemExit(f"no {name}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", required=True, type=pathlib.Path)
    arguments.add_argument("--mib", type=int, default=4096)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--folder", help="on the disk that is asked about (default: the temporary folder)")
    given = results.parse_arguments(arguments)
    os.environ["WHEELYARD_BIN"] = str((given.build / "bin").absolute())
    from support.farm import Farm
    bound = next(path for path in (given.build / "bin" / "upload_bound", given.build / "upload_bound") if path.exists())
    with tempfile.TemporaryDirectory(prefix="wheelyard-upload-", dir=given.folder) as folder:
        folder = pathlib.Path(folder)
        wheel = write_wheel(folder, given.mib)
        with wheel.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        print(f"{wheel.stat().st_size / 1e6:.0f} MB, load {os.getloadavg()[0]:.1f}", flush=True)
        before, after = form_of(wheel, sha256)
        speeds = {"wheelyard": [], "bare": []}
        peaks = []
        (folder / "bare").mkdir()
        process = subprocess.Popen([bound, folder / "bare"], stdout=subprocess.PIPE, text=True)
        port = int(process.stdout.readline())
        try:
            for number in range(given.rounds):
                (folder / f"farm{number}").mkdir()
                with Farm((INDEX,), folder=folder / f"farm{number}") as farm:  # a new one: the same bytes again are a no-op
                    farm.write_config(0)
                    token = farm.create_token()
                    farm.start()
                    pid = farm.process.pid
                    pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")  # the peak counts from here
                    idle = memory_kib(pid, "VmRSS")
                    credentials = base64.b64encode(f"__token__:{token}".encode()).decode()
                    speeds["wheelyard"].append(send(farm.port, "POST", f"/{INDEX}/legacy/", wheel, before, after, {
                        "Authorization": f"Basic {credentials}", "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}))
                    peaks.append((idle, memory_kib(pid, "VmHWM")))
                speeds["bare"].append(send(port, "PUT", "/", wheel, b"", b"", {}))
                subprocess.run(["rm", "-rf", folder / f"farm{number}"], check=True)
        finally:
            process.terminate()
            process.wait()
        for name, found in speeds.items():
            print(f"{name:10} {statistics.median(found):7.0f} MB/s")
        idle, peak = (max(column) / 1024 for column in zip(*peaks))
        speed = results.row("upload, validated and published", "MB/s", "higher", speeds["wheelyard"], "bare program", speeds["bare"])
        print(f"ratio      {results.ratio_text(speed)}")
        print(f"memory     {idle:.0f} MiB idle, {peak:.0f} MiB at the most")
        memory = results.row("the registry's peak memory", "MiB", "lower", peak, "the registry, idle", idle)
        results.record(given, "http-upload", f"Upload of a wheel of {wheel.stat().st_size / 1e6:,.0f} MB", [speed, memory])


if __name__ == "__main__":
    main()
