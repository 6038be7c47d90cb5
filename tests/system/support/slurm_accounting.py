"""Slurm's accounting in a cluster's folder, so that sacct answers: slurmdbd, and behind it a MariaDB that only a Unix socket reaches.

    SlurmCluster(folder, accounting=True)
"""

import os
import subprocess
import time
from pathlib import Path

from support.daemons import Daemons, which

START_TIMEOUT_S = 240
PROGRAMS = ("slurmdbd", "sacct", "mariadbd", "mariadb-install-db", "mariadb-admin")


def missing_accounting() -> list[str]:
    return [name for name in PROGRAMS if which(name) is None]


class SlurmAccounting:
    def __init__(self, folder: Path, port: int, munge_socket: Path):
        self.folder = folder / "accounting"
        self.config = folder / "slurmdbd.conf"  # where slurmdbd looks for it: beside slurm.conf
        self.port = port
        self.munge_socket = munge_socket
        self.socket = self.folder / "socket"
        self.daemons = Daemons()

    @property
    def slurm_config(self) -> str:
        """What slurm.conf has of it. A job that ended is forgotten by slurmctld with its next purge, within a minute."""
        return (f"AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=127.0.0.1\nAccountingStoragePort={self.port}\n"
                f"AccountingStoragePass={self.munge_socket}\nMinJobAge=2\nJobAcctGatherFrequency=1\n")

    def start(self, environment: dict[str, str]) -> None:
        self.folder.mkdir()
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        own = ("--no-defaults", f"--user={user}", f"--datadir={self.folder}/data")
        with open(self.folder / "log", "ab") as log:
            subprocess.run([which("mariadb-install-db"), *own, "--auth-root-authentication-method=socket", "--skip-test-db"],
                           stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True, timeout=START_TIMEOUT_S)
        self.launch(environment, "mariadbd", *own, f"--socket={self.socket}", f"--pid-file={self.folder}/pid", "--skip-networking",
                    "--innodb-buffer-pool-size=16M", "--innodb-lock-wait-timeout=900")
        self.wait("MariaDB", lambda: self.admin("ping"))
        self.config.touch(mode=0o600)
        self.config.write_text(f"""AuthType=auth/munge
AuthInfo=socket={self.munge_socket}
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={self.port}
SlurmUser={user}
PidFile={self.folder}/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser={user}
StorageLoc=accounting
""")
        # The client library's own words for "which socket `localhost` means".
        self.launch(environment | {"MYSQL_UNIX_PORT": str(self.socket)}, "slurmdbd", "-D")
        self.wait("slurmdbd", lambda: subprocess.run([which("sacctmgr"), "-n", "list", "cluster"], env=os.environ | environment,
                                                     capture_output=True, check=False).returncode == 0)

    def stop(self) -> None:
        self.daemons.stop_all()  # slurmdbd before its database

    def launch(self, environment: dict[str, str], name: str, *arguments: str) -> None:
        self.daemons.start(name, [name, *arguments], self.folder / "log", environment)

    def admin(self, command: str) -> bool:
        return subprocess.run([which("mariadb-admin"), "--no-defaults", f"--socket={self.socket}", command], capture_output=True,
                              check=False).returncode == 0

    def wait(self, what: str, condition) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"waited {START_TIMEOUT_S} s for {what}\n{(self.folder / 'log').read_text()[-4000:]}")
            time.sleep(0.1)  # until another program has done something: nothing announces it
