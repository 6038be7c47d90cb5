"""README.md and docs/how-to/install.md, line by line, from nothing: every command of their blocks runs in a bare Debian 12 as it is
written, or stands below with who runs it instead. Each one's minutes are printed; those of a container's processes are not among the CPU's.

Label `full`: needs root, scripts/other-nodes, Debian's mirror, the index that pip is configured to use, a free port 8080, and two hours:
a clone of the last commit is compiled for two machines. WHEELYARD_DOCUMENTS_ROOT=FOLDER keeps that Debian, and a second run goes on in it.

    python3 tests/system/documents_test.py
"""

import os
import platform
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
from collections import defaultdict
from fnmatch import fnmatchcase
from pathlib import Path

from support import packages
from support.booted_root import NODES, BootedRoot, can_boot
from support.case import main
from support.deb_registry import PORT, URL, fetched, wait_until_ready
from support.documents import INSTALL, README, blocks
from support.farm import ROOT, START_TIMEOUT_S, STOP_TIMEOUT_S
from support.other_root import ENTER
from support.skips import not_here

CLONE, SERVER, VENV, TOOLS, BARE_HOME, CONTAINER = ("a clone", "a server", "a venv", "tools", "a bare home", "containers")
# Pages and patterns of commands → where they run here, else who runs them. The first that fits counts.
ROWS = (
    (README, "scripts/demo --keep", CLONE),
    (README, "scripts/package *", CLONE),
    (README, "scripts/test", "20 minutes: by hand, in such a root"),
    (README, "podman build *", CONTAINER),
    (README, "podman run *", "as long as scripts/package, and nothing else: by hand"),
    (README, "*/bin/wheelyard-try", "starts_test.py"),
    (README, "pip install *", VENV),
    (README, "avail_wheels torch *", "starts_test.py asks its farm, which has no torch"),
    (INSTALL, "useradd *", "upgrade_test.py"),
    (INSTALL, "cp */wheelyard-registry.service *", "upgrade_test.py"),
    (INSTALL, "scripts/package portable && scripts/other-nodes", "by hand, before this test: it needs what they make"),
    (INSTALL, "* tests/system/portable_agent_test.py", "a test of its own"),
    (INSTALL, "scripts/package *", CLONE),
    (INSTALL, "podman build *Containerfile.packages *", CONTAINER),
    (INSTALL, "podman run *wheelyard-packages*", "as long as scripts/package, and nothing else: by hand"),
    (INSTALL, "pip install *", VENV),
    (INSTALL, "uv tool install *", TOOLS),
    (INSTALL, "pipx install *", TOOLS),
    (INSTALL, "mkdir -p *", BARE_HOME),
    (INSTALL, "tar -xf * -C /usr/local *", "upgrade_test.py"),
    (INSTALL, "tar -xf *", BARE_HOME),
    (INSTALL, "eb *", "easybuild_test.py"),
    (INSTALL, "apt install *", SERVER),
    (INSTALL, "wheelyard-registry *", SERVER),
    (INSTALL, "systemctl *", SERVER),
    (INSTALL, "mkdir farm", CONTAINER),
    (INSTALL, "podman *", CONTAINER),
)
STARTS = ("Find and install wheels", "Run an agent on my cluster", "Put up a registry for my site")  # starts_test.py types these blocks
FARM = "https://farm.example"
LIMIT_S = 3 * 3600
SYSTEM = "bookworm"
# What reaches mirrors and indexes from here has to reach them from there.
FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt")
NETWORK = [f"{name}={value}" for name, value in os.environ.items() if re.fullmatch(r"PIP_(?!FIND_LINKS)\w+|SSL_CERT_FILE|(?i:\w+_proxy)", name)]


def plan() -> tuple[dict[str, list[str]], list[str]]:
    """Place → its commands in the order of the pages; and what does not add up."""
    found, unused, faults = defaultdict(list), set(ROWS), []
    of_starts = [blocks(README, f"**{title}**")[0] for title in STARTS]
    for page in (README, INSTALL):
        for command in (command for block in blocks(page) if block not in of_starts for command in block):
            row = next((row for row in ROWS if row[0] == page and fnmatchcase(command, row[1])), None)
            unused.discard(row)
            if not row:
                faults.append(f"{page}: no row says who runs `{command}`")
            elif command not in found[row[2]]:
                found[row[2]].append(command)
    return found, faults + [f"no command of {page} fits `{pattern}`" for page, pattern, _ in unused]


def typed(who: list[str], command: str, **options) -> str:
    begun, before = time.monotonic(), os.times()
    done = subprocess.run([*who, command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=LIMIT_S, **options)
    after = os.times()
    computed = after.children_user + after.children_system - before.children_user - before.children_system
    print(f"{(time.monotonic() - begun) / 60:6.2f} min, {computed / 60:6.2f} of CPU  {command}", flush=True)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout[-20000:]}")
    return done.stdout


def bare_root(root: Path) -> None:
    """Debian 12 as debootstrap leaves it, with git and this tree's last commit; apt has the sources of a new installation."""
    sites = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE) $(COMPONENT)", "Created-By: Packages"], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    sources = sorted({line for line in sites if re.search(rf" {SYSTEM}\S* main$", line)})
    mirror = next(site for site, release, _ in map(str.split, sources) if release == SYSTEM)
    subprocess.run(["debootstrap", "--variant=minbase", "--include=git,ca-certificates", SYSTEM, root, mirror], check=True,
                   stdout=subprocess.DEVNULL)
    (root / "etc/apt/sources.list").write_text("".join(f"deb {line}\n" for line in sources))
    for file in filter(os.path.exists, FILES):
        shutil.copy(file, root / file[1:])
    subprocess.run(["git", "clone", "--quiet", ROOT, root / "root/wheelyard"], check=True)


def user(node: BootedRoot, name: str, *given: Path) -> list[str]:
    """The words before what a user types. A new one has a new home, with these files."""
    node.shell(f"id -u {name} 2>/dev/null || useradd --create-home --shell /bin/bash {name}")
    for path in given:
        node.shell(f"install -o {name} {node.give(path)} /home/{name}/{path.name}")
    return node.command("env", *NETWORK, "runuser", "-l", name, "-w", ",".join(each.partition("=")[0] for each in ("LANG=", *NETWORK)), "-c")


class DocumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="wheelyard-documents-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.plan, cls.faults = plan()

    def test_a_clone_gives_the_demo_and_all_packages(self):
        root = Path(os.environ.get("WHEELYARD_DOCUMENTS_ROOT", self.folder / "root")).resolve()
        if not root.exists():
            bare_root(root)
        inside = ["nice", "unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, root, "/usr/bin/env", "-i",
                  "--chdir=/root/wheelyard", "HOME=/root", "LANG=C.UTF-8", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *NETWORK, "bash", "-c"]
        for command in self.plan[CLONE]:
            typed(inside, command)
        packages.PACKAGES = shutil.copytree(root / "root/wheelyard/build/package", self.folder / "packages",
                                            ignore=lambda folder, names: [name for name in names if (Path(folder) / name).is_dir()])

    def test_every_command_has_who_runs_it(self):
        self.assertEqual(self.faults, [])

    def test_packages_install_on_a_server_and_for_its_users(self):
        deb, tarball = packages.made("wheelyard-registry_*.deb"), packages.tarball(platform.machine())
        self.assertTrue(deb and tarball, f"{packages.PACKAGES} has no packages: scripts/package all")
        server = self.enterContext(BootedRoot(SYSTEM, self.folder / "server"))
        server.give(deb)
        for command in self.plan[SERVER]:
            typed(server.command("runuser", "-l", "root", "-c"), command)
        wait_until_ready(server)
        self.assertIn(b"avail-wheels", fetched("/tools/simple/"))
        cluster = self.enterContext(BootedRoot(SYSTEM, self.folder / "cluster"))
        for file in filter(os.path.exists, FILES):
            cluster.shell(f"cp {cluster.give(Path(file))} {file}")
        for command in self.plan[VENV]:
            venv = "python3 -m venv venv && . venv/bin/activate"
            typed(user(cluster, command.rsplit(maxsplit=1)[1]), f"{venv} && {command.replace(FARM, URL)} && command -v avail_wheels")
        # What the lines take for granted: uv and pipx.
        cluster.shell("apt-get -qq update && apt-get -qq install -y pipx >/dev/null")
        typed(user(cluster, "anna"), "python3 -m venv uv && uv/bin/pip install -q uv && mkdir -p ~/.local/bin && ln -s ~/uv/bin/uv ~/.local/bin/uv")
        for command in self.plan[TOOLS]:
            typed(user(cluster, "anna"), command.replace(FARM, URL))
            typed(user(cluster, "anna"), "cd ~/.local/bin && ls -l avail_wheels wheelyard-builder && rm avail_wheels wheelyard-*")
        for command in self.plan[BARE_HOME]:
            typed(user(cluster, "bert", *([tarball] if "mkdir" in command else [])), command)
        self.assertIn("wheelyard-builder", typed(user(cluster, "bert"), "wheelyard-builder --version"))

    @unittest.skipUnless(shutil.which("podman"), "there is no podman")
    def test_containers_are_built_and_serve(self):
        storage = self.folder / "storage.conf"
        storage.write_text(f'[storage]\ndriver = "overlay"\ngraphroot = "{self.folder}/images"\nrunroot = "{self.folder}/running"\n')
        # What podman would do with limits and control groups, not every place allows; runc runs where crun refuses mixed versions of these.
        engine = 'cgroup_manager = "cgroupfs"\n' + ('runtime = "runc"\n' if shutil.which("runc") else "")
        settings = self.folder / "containers.conf"
        settings.write_text('[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]\n[engine]\n' + engine)
        environment = os.environ | {"CONTAINERS_STORAGE_CONF": str(storage), "CONTAINERS_CONF": str(settings)}
        unpacked = self.folder / "unpacked"
        unpacked.mkdir()
        subprocess.run(["tar", "-xf", packages.tarball(platform.machine()), "-C", unpacked, "--strip-components=1"], check=True)
        # Not `podman system reset`, which reaches beyond this storage.
        self.addCleanup(subprocess.run, "podman rm --all --force && podman rmi --all --force", shell=True, check=True, env=environment,
                        stdout=subprocess.DEVNULL)
        base = re.search(r"^FROM (\S+)", (ROOT / "packaging/Containerfile.packages").read_text(), re.MULTILINE)[1]
        # In place of a registry of containers, which a test does not rely on.
        typed(["sh", "-c"], f"tar -C {NODES / SYSTEM} -c . | podman import --quiet - {base}", env=environment)
        *before, serve = self.plan[CONTAINER]
        for command in before:
            typed(["sh", "-c"], command, cwd=ROOT if "packaging/" in command else unpacked, env=environment)
        configuration = unpacked / "farm/registry.toml"
        configuration.write_text(re.sub(r'(?m)^listen = ".*"', f'listen = "0.0.0.0:{PORT}"', configuration.read_text()))
        server = subprocess.Popen(["sh", "-c", f"exec {serve}"], cwd=unpacked, env=environment)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        deadline = time.monotonic() + START_TIMEOUT_S
        while fetched("/readyz") is None:
            self.assertIsNone(server.poll())
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)  # until an outside process has done something: nothing announces it
        server.terminate()
        self.assertEqual(server.wait(STOP_TIMEOUT_S), 0)


if __name__ == "__main__":
    if not can_boot(SYSTEM) or not shutil.which("debootstrap"):
        not_here(f"{NODES} has no root {SYSTEM} with systemd, or there is no debootstrap, or this is not root; scripts/other-nodes")
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", PORT)) == 0:
            not_here(f"something listens on port {PORT}")
    main()
