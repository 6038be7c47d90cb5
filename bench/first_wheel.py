#!/usr/bin/env python3
"""From nothing to the first wheel of one's own in the index, for each of the README's three people: commands and seconds.

    scripts/package all; scripts/other-nodes        # once, as root
    WHEELYARD_PACKAGES=build/package bench/first_wheel.py

As root, with the network of this machine, whose port 8080 must be free. Each person has a Debian of its own in which systemd runs:
13 to try it, 12 for the registry, 11 for the agent. The files of the packages are already there; what apt and pip install is not.
"""

import argparse
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "system"))
import results
from support.booted_root import BootedRoot
from support.deb_registry import URL, package
from support.packages import tarball
from support.wheels import Wheel

OF_THIS_MACHINE = ("/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt", "/etc/pip.conf")
PIP = "export PIP_CERT=/etc/ssl/certs/ca-certificates.crt PATH=$HOME/wheelyard/bin:$PATH; cd; "
REGISTRY = ("apt-get install --yes ./wheelyard-registry_*.deb",
            "wheelyard-registry init /etc/wheelyard",
            "systemctl enable --now wheelyard-registry",
            "wheelyard-registry token create --name my-agent --index main --to my-agent.token",
            "wheelyard-registry import main ./my_wheel-1.0-py3-none-any.whl")
AGENT = ("python3 -m venv ~/wheelyard",
         f"pip install --index-url {URL}/tools/simple/ wheelyard",
         f"wheelyard-builder site init --yes --registry {URL} --index main --token-file token",
         "wheelyard-builder site check --site site.toml",
         "wheelyard-builder run --site site.toml")
# It serves until it is interrupted.
TRY = ("tar -xf wheelyard-*.tar.xz",
       "wheelyard-*/bin/wheelyard-try > try.log 2>&1 & until grep -q 'serves until' try.log || ! kill -0 $!; do sleep 0.1; done; kill -0 $!")


def prepare(node: BootedRoot, *packages: str) -> None:
    for file in map(Path, OF_THIS_MACHINE):
        if file.is_file():
            node.shell(f"cat {node.give(file)} > {file}")
    node.shell(f"apt-get update -qq; apt-get install -qq --yes --no-install-recommends {' '.join(packages)} ca-certificates")


def seconds(node: BootedRoot, who: str, commands: tuple[str, ...]) -> float:
    begun = time.monotonic()
    for command in commands:
        node.shell(PIP + command)
        print(f"{who}: {time.monotonic() - begun:6.1f} s  {command}", flush=True)
    return time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options = results.parse_arguments(parser)
    folder = Path(tempfile.mkdtemp(prefix="first-wheel-"))
    rows = []

    def row(who: str, commands: tuple[str, ...], taken: float) -> None:
        rows.append(results.row(f"{who}, {len(commands)} commands", "s of wall", "lower", [taken]))
    try:
        with BootedRoot("trixie", folder / "try") as node:
            prepare(node, "xz-utils", "g++")
            node.give(tarball(platform.machine()))
            row("try it", TRY, seconds(node, "try it", TRY))
        with BootedRoot("bookworm", folder / "registry") as server, BootedRoot("bullseye", folder / "agent") as cluster:
            prepare(server)
            for file in (package("wheelyard-registry"), Wheel("my-wheel").write(folder)):
                server.give(file)
            row("a registry for my site", REGISTRY, seconds(server, "registry", REGISTRY))
            prepare(cluster)
            cluster.shell(f"umask 077; echo {server.say('cat', '/root/my-agent.token')} > /root/token")
            row("an agent on my cluster", AGENT, seconds(cluster, "agent", AGENT))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    results.record(options, "first-wheel", "From nothing to the first wheel of one's own", rows)


if __name__ == "__main__":
    main()
