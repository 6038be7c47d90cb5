# The guest's first process (guest.py): mounts file systems, runs /commands in a child, reaps orphans, and
# reboots, which ends the emulator (-no-reboot).
import ctypes
import os
import shlex
import subprocess
import sys

MOUNTS = (("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev"), ("tmpfs", "/tmp"), ("cgroup2", "/sys/fs/cgroup"))
RB_AUTOBOOT = 0x01234567  # reboot(2)


def prepare(libc) -> None:
    for kind, place in MOUNTS:
        os.makedirs(place, exist_ok=True)
        if libc.mount(kind.encode(), place.encode(), kind.encode(), 0, None) != 0:
            raise OSError(ctypes.get_errno(), f"mount {place}")
    with open("/sys/fs/cgroup/cgroup.subtree_control", "w") as control:
        control.write("+memory +pids")
    os.environ |= {"HOME": "/tmp", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def run_commands() -> None:
    with open("/commands") as lines:
        commands = [shlex.split(line) for line in lines]
    failed = sum(subprocess.run(command).returncode != 0 for command in commands)
    print(f"guest: {failed} of {len(commands)} failed", flush=True)


def main() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    prepare(libc)
    child = os.fork()
    if child == 0:
        run_commands()
        sys.stdout.flush()
        os._exit(0)
    while os.wait()[0] != child:
        pass
    libc.sync()
    libc.reboot(RB_AUTOBOOT)


main()
