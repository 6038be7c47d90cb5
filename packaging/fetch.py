"""Downloads what packaging/sources.toml pins, and refuses anything else.

Debian's source packages come through apt from the mirrors of this machine; the compiler comes through pip.
"""

import functools
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
import urllib.parse
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STATE = ROOT / "build/package"
KEPT = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wheelyard/package"  # compiled once for all clones of a user
SOURCES = tomllib.loads((ROOT / "packaging/sources.toml").read_text())
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MADE = "made.json"  # what scripts/package wrote into a folder: file → commit and SHA-256
LIBRARIES = {row["name"]: row for row in SOURCES["library"]}
REBUILD = f".post{SOURCES['rebuild']}" if SOURCES["rebuild"] else ""  # https://peps.python.org/pep-0440/#post-releases
PROJECT = re.search(r'^project\(wheelyard VERSION ([\d.]+) HOMEPAGE_URL "(\S+?)/?"', (ROOT / "CMakeLists.txt").read_text(), re.M)
VERSION = PROJECT[1] + REBUILD
HOMEPAGE = "" if PROJECT[2].endswith(".invalid") else PROJECT[2]  # RFC 2606: no such address exists, and no package names it


class PackageError(Exception):
    """A failure that a person can act on: its text is the message."""


def run(command, **options):
    """Runs `command`; its output goes to the log that `options` name, or is shown."""
    done = subprocess.run([str(word) for word in command], **options)
    if done.returncode != 0:
        log = getattr(options.get("stdout"), "name", None)
        raise PackageError(f"{command[0]} failed with status {done.returncode}" + (f"; read {log}" if log else ""))


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(path, expected):
    found = sha256(path)
    if found not in expected:
        path.unlink()
        raise PackageError(f"{path.name} has SHA-256 {found}, and packaging/sources.toml pins {' or '.join(expected)}")


@functools.cache
def apt_options():
    """Options of apt for an index of sources in our own folder: needs no root and changes nothing of the system."""
    lists = KEPT / "apt"
    (lists / "partial").mkdir(parents=True, exist_ok=True)
    # Each release of Debian's mirrors that this machine uses.
    lines = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(SITE)|$(RELEASE)|$(COMPONENT)", "Created-By: Packages"],
        check=True, capture_output=True, text=True).stdout.splitlines()
    rows = set()
    for site, release, component in (line.split("|") for line in lines):
        if component == "main" and release.startswith("bookworm"):
            rows.add(f"deb-src [signed-by={KEYRING}] {site} {release} main")
    if not rows:
        raise PackageError("apt has no mirror of Debian 12: run this on Debian 12, or in a container of it")
    listing = KEPT / "sources.list"  # not in `lists`: an update deletes what it does not know there
    listing.write_text("\n".join(sorted(rows)) + "\n")
    return ["-o", f"Dir::Etc::SourceList={listing}", "-o", "Dir::Etc::SourceParts=/dev/null",
            "-o", f"Dir::State::Lists={lists}", "-o", "APT::Sandbox::User="]


def addresses(name, version):
    """File name → URL of a source package, from apt."""
    command = ["apt-get", *apt_options(), "--print-uris", "source", f"{name}={version}"]
    for attempt in ("known", "updated"):
        listed = subprocess.run(command, capture_output=True, text=True)
        found = {urllib.parse.unquote(url.rsplit("/", 1)[1]): url for url in re.findall(r"^'(\S+)' ", listed.stdout, re.M)}
        if listed.returncode == 0 and found:
            return found
        if attempt == "known":
            update_index()
    raise PackageError(f"no mirror has the source of {name} {version}: {why_not_there(name)}")


def is_newer(version, other):
    return subprocess.run(["dpkg", "--compare-versions", version, "gt", other]).returncode == 0


def newer(name):
    """(version, SHA-256 to pin) of a library that the mirrors have in a newer version; None: the pinned one is the newest. apt has
    checked the signature of its index."""
    listed = subprocess.run(["apt-cache", *apt_options(), "showsrc", "--only-source", name], check=True, capture_output=True, text=True).stdout
    found = None
    for paragraph in listed.split("\n\n"):
        version = re.search(r"^Version: (\S+)$", paragraph, re.M)
        if version and is_newer(version[1], found[0] if found else LIBRARIES[name]["version"]):
            hashes = {file: digest for digest, file in re.findall(r"^ ([0-9a-f]{64}) \d+ (\S+)$", paragraph, re.M)}
            found = version[1], hashes[pinned_file(name, version[1])]
    return found


def why_not_there(name):
    if newer(name):
        return "Debian has a newer one. `scripts/package rebuild` writes its row (docs/how-to/release.md, A rebuild for a fix)"
    return "neither this machine's sources of apt nor Debian's newest have it"


def update_index():
    run(["apt-get", *apt_options(), "-qq", "update"])


def pinned_file(name, version):
    """The file of a source package whose hash the row has: Debian's .dsc, or upstream's release as it is."""
    version = re.sub(r"^\d+:", "", version)
    if LIBRARIES[name].get("upstream"):
        return f"{name}_{version.rpartition('-')[0]}.orig.tar.gz"
    return f"{name}_{version}.dsc"


def pin(name):
    """What a source tree and its archives are made again for. Of a row of which only the version was changed, the hash is wrong."""
    return f"{LIBRARIES[name]['version']} {LIBRARIES[name]['sha256']}"


def download(name):
    """The pinned file of a library, with the files beside it."""
    row = LIBRARIES[name]
    pinned = KEPT / "download" / pinned_file(name, row["version"])
    pinned.parent.mkdir(parents=True, exist_ok=True)
    wanted = [pinned.name]
    if pinned.suffix == ".dsc" and pinned.exists():
        wanted += re.findall(r"^ [0-9a-f]{64} \d+ (\S+)$", pinned.read_text(), re.M)
    if not all((pinned.parent / file).exists() for file in wanted) or len(wanted) == 1 and pinned.suffix == ".dsc":
        for file, url in addresses(name, row["version"]).items():
            if (pinned.suffix == ".dsc" or file == pinned.name) and not (pinned.parent / file).exists():
                partial = pinned.parent / (file + ".part")
                try:
                    with urllib.request.urlopen(url) as answer, open(partial, "wb") as out:
                        shutil.copyfileobj(answer, out)
                except OSError as error:  # such as a mirror whose index is newer than its files
                    raise PackageError(f"{url}: {error}") from error
                partial.rename(pinned.parent / file)
    check(pinned, [row["sha256"]])
    return pinned


def unpack(name):
    """The library's source tree, Debian's patches applied."""
    pinned = download(name)
    tree = KEPT / "source" / name
    stamp = KEPT / "source" / f"{name}.pin"
    if stamp.exists() and stamp.read_text() == pin(name):
        return tree
    shutil.rmtree(tree, ignore_errors=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    if pinned.suffix == ".dsc":  # dpkg-source checks the hashes of the files that the .dsc lists
        run(["dpkg-source", "--no-check", "-x", pinned, tree], stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)
    else:
        tree.mkdir()
        run(["tar", "-xf", pinned, "-C", tree, "--strip-components=1", "--no-same-owner"])
    stamp.write_text(pin(name))
    return tree


def compiler():
    """The program zig, unpacked from its wheel."""
    pinned = SOURCES["compiler"]
    folder = KEPT / f"zig-{pinned['version']}"
    program = folder / "ziglang/zig"
    if not program.exists():
        requirements = KEPT / "compiler.txt"
        KEPT.mkdir(parents=True, exist_ok=True)
        requirements.write_text(f"ziglang=={pinned['version']} " + " ".join(f"--hash=sha256:{each}" for each in pinned["sha256"]))
        venv = KEPT / "venv"
        if not (venv / "bin/pip").exists():
            run([sys.executable, "-m", "venv", venv])
        run([venv / "bin/pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:",
             "--require-hashes", "--target", folder, "-r", requirements])
    return program


def wrappers(machine):
    """A folder with cc, c++, ar and ranlib for `machine`."""
    zig = compiler()
    folder = KEPT / "tools" / machine
    folder.mkdir(parents=True, exist_ok=True)
    for name, words in {"cc": f"cc -target {machine}-linux-musl", "c++": f"c++ -target {machine}-linux-musl",
                        "ar": "ar", "ranlib": "ranlib"}.items():
        script = f'#!/bin/sh\nexec {zig} {words} "$@"\n'
        path = folder / name
        if not path.exists() or path.read_text() != script:
            path.write_text(script)
            path.chmod(0o755)
    return folder


@functools.cache
def archived():
    """(commit, seconds since 1970) of the source tarball that this tree comes from; None: it is a clone. `git archive` fills the file in."""
    if (ROOT / ".git").exists():
        return None
    found = re.fullmatch(r"([0-9a-f]{40}) (\d+)", (ROOT / "packaging/archived").read_text().strip())
    if not found:
        raise PackageError(f"{ROOT} is no clone, and no source tarball of a release: packaging/archived names no commit")
    return found.groups()


def git(*words, **options):
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, **options).stdout.strip()


def released_commit():
    """Which commit this version's tag names; None: there is no such tag here, or no clone."""
    return None if archived() else git("rev-parse", "--verify", "--quiet", f"v{VERSION}^{{commit}}") or None


def is_released():
    return bool(archived() or released_commit())


def commit():
    """Of the working tree; one that is not clean is no commit, and nobody knows whether an unpacked tarball was changed."""
    if archived():
        return f"{archived()[0]}-archive"
    changed = git("status", "--porcelain", check=True)
    return git("rev-parse", "HEAD", check=True) + ("-changed" if changed else "")


def environment():
    """Of every compile: the cache in our folder, and no time of day in any output."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or (archived()[1] if archived() else git("log", "-1", "--format=%ct", check=True))
    keep = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return keep | {"SOURCE_DATE_EPOCH": epoch, "LC_ALL": "C.UTF-8", "TZ": "UTC", "ZERO_AR_DATE": "1",
                   "ZIG_GLOBAL_CACHE_DIR": str(KEPT / "zig-cache"), "ZIG_LOCAL_CACHE_DIR": str(KEPT / "zig-cache")}
