"""Programs of another architecture that the kernel starts by itself, in a user namespace whose binfmt_misc is its own (Linux 6.7). Nothing
changes for the rest of the machine.

    subprocess.run(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", enable("aarch64") + "exec ./program-of-aarch64"])
"""

import shutil

# ELF, 64 bit, little-endian, an executable or a shared object, and the machine; see binfmt_misc's documentation.
_MAGIC = {machine: rf"\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x{number}\x00"
          for machine, number in {"aarch64": "b7", "riscv64": "f3"}.items()}
_MASK = r"\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff"


def emulator(machine: str) -> str | None:
    return shutil.which(f"qemu-{machine}-static") if machine in _MAGIC else None


def enable(machine: str) -> str:
    """Shell commands for the start of that namespace. F: the emulator is opened now, so a root without it can be entered."""
    return ("mount -t binfmt_misc none /proc/sys/fs/binfmt_misc || exit\n"
            f"printf '%s' ':{machine}:M::{_MAGIC[machine]}:{_MASK}:{emulator(machine)}:FC' > /proc/sys/fs/binfmt_misc/register || exit\n")
