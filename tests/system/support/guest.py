"""An emulated machine with its own kernel and programs of this machine, for tests that this machine's kernel
cannot run.

The root file system is an initramfs (kernel documentation: driver-api/early-userspace/buffer-format.rst) with
Python and its library, the requested programs with the libraries that ldd lists, and other files.
guest_init.py is the first process; it runs the commands in order and then ends the machine.
"""

import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import sysconfig
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
QEMU = "qemu-system-x86_64"
MEMORY_MIB = 1536
EXCLUDED = {"test", "tests", "idlelib", "lib2to3", "tkinter", "ensurepip", "pydoc_data", "site-packages", "dist-packages"}
DONE = re.compile(r"^guest: (\d+) of (\d+) failed\s*$", re.MULTILINE)


class Root:
    """The guest's files, by their path in the guest."""

    def __init__(self):
        self.files: dict[str, Path] = {}

    def add_file(self, path: str | Path, source: Path) -> None:
        self.files[str(path).lstrip("/")] = Path(source)

    def add_tree(self, path: str | Path, source: Path) -> None:
        for folder, below, names in os.walk(source):
            below[:] = [name for name in below if name not in EXCLUDED and not name.startswith("config-")]
            for name in names:
                found = Path(folder) / name
                if found.is_file():
                    self.add_file(Path(path) / found.relative_to(source), found)

    def add_program(self, path: str | Path, source: Path) -> None:
        """Adds a program and its libraries, at the paths where its loader searches them."""
        self.add_file(path, Path(source).resolve())
        output = subprocess.run(["ldd", source], capture_output=True, text=True).stdout  # a static program has none
        for library in re.findall(r"(?:=> |^\s*)(/\S+) \(", output, re.MULTILINE):
            self.add_file(library, Path(library).resolve())

    def add_python(self) -> str:
        """Returns Python's path in the guest."""
        python = Path(sys.executable).resolve()
        self.add_program(python, python)
        for name in ("stdlib", "platstdlib"):
            folder = Path(sysconfig.get_path(name))
            self.add_tree(folder, folder)
        for module in [source for source in self.files.values() if source.suffix == ".so"]:
            self.add_program(module, module)
        return str(python)

    def write(self, archive: Path) -> None:
        with open(archive, "wb") as out:
            for number, (path, source) in enumerate(self.entries(), start=1):
                data = source.read_bytes() if source else b""
                mode = stat.S_IFREG | 0o755 if source else stat.S_IFDIR | 0o755
                self.write_entry(out, number, path, mode, data)
            self.write_entry(out, 0, "TRAILER!!!", 0, b"")

    def entries(self):
        """Every folder before its contents."""
        folders = {str(folder) for path in self.files for folder in Path(path).parents if str(folder) != "."}
        return [*((folder, None) for folder in sorted(folders)), *self.files.items()]

    @staticmethod
    def write_entry(out, number: int, path: str, mode: int, data: bytes) -> None:
        name = path.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name
        out.write(head + bytes(-len(head) % 4) + data + bytes(-len(data) % 4))


def run_in_guest(kernel: Path, root: Root, commands: list[list[str]], parameters: str, timeout_s: int) -> str:
    """Runs the commands. Returns the machine's output, which ends with "guest: 0 of N failed" on success;
    also prints it as it comes.
    """
    python = root.add_python()
    with tempfile.TemporaryDirectory(prefix="wheelyard-guest-") as name:
        folder = Path(name)
        (folder / "init").write_text(f"#!{python}\n" + (HERE / "guest_init.py").read_text())
        (folder / "commands").write_text("".join(shlex.join(map(str, command)) + "\n" for command in commands))
        root.add_file("init", folder / "init")
        root.add_file("commands", folder / "commands")
        archive = folder / "root.cpio"
        root.write(archive)
        command = [QEMU, "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", str(MEMORY_MIB), "-nodefaults", "-no-reboot",
                   "-display", "none", "-serial", "stdio", "-kernel", kernel, "-initrd", archive,
                   "-append", f"console=ttyS0 quiet panic=-1 random.trust_cpu=on {parameters}"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace") as machine:
            return follow(machine, timeout_s)


def follow(machine: subprocess.Popen, timeout_s: int) -> str:
    watchdog = threading.Timer(timeout_s, machine.kill)
    watchdog.start()
    output = []
    try:
        for line in machine.stdout:
            output.append(line)
            print(line, end="", file=sys.stderr, flush=True)
    finally:
        watchdog.cancel()
        machine.kill()
    return "".join(output)


def missing() -> str:
    """What this machine lacks to run a guest, or an empty string."""
    if os.uname().machine != "x86_64":
        return "the guest is an x86_64 machine"
    return "" if shutil.which(QEMU) else f"{QEMU} is not installed"
