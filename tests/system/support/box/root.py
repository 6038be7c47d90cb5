"""The box's file systems: a root of its own, in which the site's paths exist as the facts say.

The caller is root in mount, network, host name and process namespaces of its own. /usr and the checkout are the machine's, read-only;
everything else is in memory. The tools of /usr do the work; compilers, modules and places are the site's.
"""

import os
import subprocess
from pathlib import Path

from support.box.facts import OTHER_USER, BoxFacts
from support.farm import BIN, CLIENTS, ROOT

SERVER = Path("/srv/box")          # what only the login node sees: the upstreams' repositories, the tokens' owner
DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
IDS = {"agent": 2001, OTHER_USER: 2002}
GROUP = 2000


def run(*words) -> None:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{words}: {done.stdout}{done.stderr}")


def bind(source: Path, target: Path, read_only: bool = True) -> None:
    if source.is_dir():
        target.mkdir(parents=True, exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    run("mount", "--bind", source, target)
    if read_only:
        run("mount", "-o", "remount,bind,ro", target)


def make_root(root: Path) -> None:
    run("mount", "--make-rprivate", "/")
    run("mount", "-t", "tmpfs", "-o", "mode=0755,size=64g", "box", root)
    for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32"):
        path = Path("/", name)
        if path.is_symlink():
            (root / name).symlink_to(os.readlink(path))
        elif path.is_dir():
            bind(path, root / name)
    bind(Path("/usr"), root / "usr")
    for name, mode in (("proc", 0o755), ("sys", 0o755), ("dev", 0o755), ("run", 0o755), ("tmp", 0o1777), ("var", 0o755), ("root", 0o700)):
        (root / name).mkdir()
        (root / name).chmod(mode)
    for name in ("var/log", "var/spool", "var/tmp", "var/lib", "dev/shm"):
        (root / name).mkdir()
        (root / name).chmod(0o1777 if name in ("var/tmp", "dev/shm") else 0o755)
    for folder in dict.fromkeys((ROOT, BIN, CLIENTS)):
        if folder.is_dir() and not (root / folder.relative_to("/")).exists():
            bind(folder, root / folder.relative_to("/"))
            for above in folder.parents:  # the box's users pass all of them, also a home of mode 0700
                above = root / above.relative_to("/")
                above.chmod(above.stat().st_mode | 0o111)
    run("mount", "-t", "proc", "proc", root / "proc")
    run("mount", "-t", "sysfs", "sysfs", root / "sys")
    for name in DEVICES:
        bind(Path("/dev", name), root / "dev" / name, read_only=False)
    for name, to in (("fd", "/proc/self/fd"), ("stdin", "/proc/self/fd/0"), ("stdout", "/proc/self/fd/1"), ("stderr", "/proc/self/fd/2")):
        (root / "dev" / name).symlink_to(to)
    run("cp", "-a", "/etc", root / "etc")


def enter(root: Path) -> None:
    os.chroot(root)
    os.chdir("/")


def make_users(facts: BoxFacts) -> None:
    """The agent's user and a colleague, both in the project's group."""
    names = {facts.user: IDS["agent"], OTHER_USER: IDS[OTHER_USER]}
    with open("/etc/passwd", "a") as users, open("/etc/group", "a") as groups, open("/etc/shadow", "a") as shadow:
        for name, number in names.items():
            users.write(f"{name}:x:{number}:{GROUP}::{home(facts, name)}:/bin/bash\n")
            shadow.write(f"{name}:*:20000:0:99999:7:::\n")  # Slurm's --export=NONE runs `su -`
        groups.write(f"project:x:{GROUP}:{','.join(names)}\n")


def home(facts: BoxFacts, user: str) -> Path:
    at_home = [mount.path for mount in facts.mounts if mount.path.startswith("/home/")]
    return Path(at_home[0] if at_home else "/home", user)


def make_places(facts: BoxFacts) -> None:
    """The mounts of the facts: a project's are its group's, a user's are the user's, the others root's."""
    for mount in facts.mounts:
        if mount.of_a_job or mount.path.startswith("$"):
            continue
        place = Path(mount.path)
        place.mkdir(parents=True, exist_ok=True)
        if mount.per_user:
            os.chown(place, IDS["agent"], GROUP)
        elif facts.project in mount.path:
            os.chown(place, 0, GROUP)
            place.chmod(0o2775)
    for user, number in ((facts.user, IDS["agent"]), (OTHER_USER, IDS[OTHER_USER])):
        place = home(facts, user)
        place.mkdir(parents=True, exist_ok=True)
        os.chown(place, number, GROUP)
        place.chmod(0o755)
    SERVER.mkdir(parents=True)


def hidden_from_nodes(facts: BoxFacts) -> list[str]:
    return [str(SERVER)] + [mount.path for mount in facts.mounts if not mount.on_nodes and not mount.of_a_job]


def purge(facts: BoxFacts) -> int:
    """What the site's purge does where nothing was read for long enough; here all files have become that old. How many files went."""
    count = 0
    for mount in facts.mounts:
        if not mount.purged_days:
            continue
        for folder, _, names in os.walk(mount.path):
            for name in names:
                Path(folder, name).unlink()
                count += 1
    return count
