"""A whole Slurm cluster on loopback, in a folder, without systemd: munge, slurmctld, slurmd.

    with SlurmCluster(folder) as cluster:
        environment = farm.environment | cluster.environment

The node's size is faked, so nothing depends on the machine's. As root and where a memory cgroup can be made, jobs have real
memory limits (`limits_memory`). With `nodes`, as many slurmd run beside each other, each a node of its own name and port; with `own_disk`,
that folder is another one on every node, and the nodes find each other's addresses by name (needs root: mount namespaces).
Elsewhere, and with `polls_memory`, Slurm itself
measures the jobs each second, as at sites without such cgroups, and kills the one that has more than it asked for.
With `accounting` sacct answers, and slurmctld forgets a job soon after its end (slurm_accounting.py).
"""

import os
import re
import secrets
import socket
import subprocess
import time
from pathlib import Path

from support.daemons import Daemons, which
from support.ports import free_port
from support.slurm_accounting import SlurmAccounting

START_TIMEOUT_S = 240
PATIENCE_S = 30  # of a command that the test gives, within START_TIMEOUT_S
PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "squeue", "scancel", "scontrol")


def missing_programs() -> list[str]:
    return [name for name in PROGRAMS if which(name) is None]


def can_limit_memory() -> bool:
    """Whether this process may make memory cgroups (version 1, as Slurm 22.05 uses them on Debian 12 without systemd)."""
    root = Path("/sys/fs/cgroup/memory")
    probe = root / f"wheelyard-probe-{os.getpid()}"
    if os.geteuid() != 0 or not (root / "memory.limit_in_bytes").exists():
        return False
    try:
        probe.mkdir()
        (probe / "memory.limit_in_bytes").write_text("1048576")
        probe.rmdir()
        return True
    except OSError:
        return False


def can_mount() -> bool:
    """Whether this process may give a child mounts of its own."""
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "wheelyard", "/mnt"]
    return os.geteuid() == 0 and subprocess.run(probe, capture_output=True, check=False).returncode == 0


# $0: this node's disk; then where it is mounted, what it takes for /etc/hosts, and the command.
NODE = 'mount --bind "$0" "$1" && mount --bind "$2" /etc/hosts && shift 2 && exec "$@"'


class SlurmCluster:
    def __init__(self, folder: Path, cpus: int = 8, memory_mib: int = 4096, partitions: tuple[str, ...] = (), nodes: int = 1,
                 own_disk: Path | None = None, accounting: bool = False, plugin: str = "", polls_memory: bool = False, name: str = "yard",
                 beside: "SlurmCluster | None" = None):
        """`partitions`: names beside `main` and `urgent`, without limits. `plugin`: of job submissions; `lua` reads job_submit.lua in `folder`.
        `beside`: a cluster with accounting whose munge and slurmdbd this one shares, so that each can be named to the other's programs."""
        self.folder = folder
        self.name = name
        self.beside = beside
        self.node = f"{name}{os.getpid()}"  # cgroups bear its name, and another cluster may run beside this one
        self.nodes = [self.node] + [f"{self.node}n{number}" for number in range(2, nodes + 1)]
        self.own_disk = own_disk
        self.cpus = cpus
        self.memory_mib = memory_mib
        self.partitions = "".join(f"PartitionName={name} Nodes=ALL MaxTime=UNLIMITED DefMemPerCPU=64 State=UP\n" for name in partitions)
        self.limits_memory = can_limit_memory() and not polls_memory
        self.config = folder / "slurm.conf"
        self.patient_config = folder / "patient.conf"
        self.plugin = f"JobSubmitPlugins={plugin}\n" if plugin else ""
        self.daemons = Daemons()
        *self.ports, accounting_port = (free_port() for _ in range(2 + nodes))
        self.accounting = SlurmAccounting(folder, accounting_port, folder / "munge" / "socket") if accounting else None

    @property
    def shared(self) -> "SlurmCluster":
        """The cluster that has the munge and the accounting of this one."""
        return self.beside or self

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.config)}

    def __enter__(self) -> "SlurmCluster":
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.folder.chmod(0o755)
        key = self.folder / "munge" / "key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        self.write_config()
        # A busy server is no reason for a test to fail: what it asks by itself may take longer than what an agent asks.
        self.patient_config.write_text(re.sub(r"MessageTimeout=\d+", f"MessageTimeout={PATIENCE_S}", self.config.read_text()))
        try:
            if self.beside is None:
                self.start_shared(key)
            self.start_controller()
            self.start_nodes()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_shared(self, key: Path) -> None:
        self.launch("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge/socket",
                    f"--pid-file={self.folder}/munge/pid", f"--log-file={self.folder}/munge/log", f"--seed-file={self.folder}/munge/seed")
        self.wait("munge's socket", (self.folder / "munge" / "socket").exists)
        if self.accounting is not None:
            self.accounting.start(self.environment)

    def __exit__(self, *_) -> None:
        try:
            if "slurmctld" in self.daemons:
                self.run("scancel", "--user", str(os.geteuid()), check=False)
                # A slurmd that is stopped before it knows of that leaves the job running.
                self.wait("the jobs' ends", lambda: not self.run("squeue", "-h", check=False).stdout.strip())
        finally:
            for name in (*self.nodes, "slurmctld"):
                self.daemons.stop(name)
            if self.accounting is not None:
                self.accounting.stop()
            self.daemons.stop("munged")

    def write_config(self) -> None:
        tracking = ("ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup\n" if self.limits_memory else
                    "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\n")
        host = socket.gethostname().split(".")[0]
        nodes = "".join(f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus} Boards=1 SocketsPerBoard=1 "
                        f"CoresPerSocket={self.cpus} ThreadsPerCore=1 RealMemory={self.memory_mib} State=UNKNOWN\n"
                        for node, port in zip(self.nodes, self.ports[1:]))
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        accounting = self.shared.accounting.slurm_config if self.shared.accounting else f"MinJobAge=3600\nJobAcctGatherFrequency={0 if self.limits_memory else 1}\n"
        tracking += "" if self.limits_memory else "JobAcctGatherParams=OverMemoryKill\n"
        self.config.write_text(f"""ClusterName={self.name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={self.ports[0]}
AuthInfo=socket={self.shared.folder}/munge/socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool/%n
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/%n.pid
MpiDefault=none
{tracking}JobAcctGatherType=jobacct_gather/linux
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
EnforcePartLimits=ALL
ReturnToService=2
MessageTimeout=2
KillWait=3
SlurmdTimeout=300
{self.plugin}{accounting}PreemptType=preempt/partition_prio
PreemptMode=CANCEL
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=1
JobCompType=jobcomp/filetxt
JobCompLoc={self.folder}/completed
{nodes}PartitionName=main Nodes=ALL Default=YES MaxTime=02:00:00 DefaultTime=10 DefMemPerCPU=64 State=UP PriorityTier=1
PartitionName=urgent Nodes=ALL MaxTime=02:00:00 DefaultTime=10 DefMemPerCPU=64 State=UP PriorityTier=10 PreemptMode=OFF
{self.partitions}""")
        (self.folder / "cgroup.conf").write_text(
            "CgroupPlugin=cgroup/v1\nCgroupAutomount=yes\nConstrainRAMSpace=yes\nConstrainSwapSpace=no\nAllowedSwapSpace=0\n")

    # --- daemons ------------------------------------------------------------------------------------------------------

    def launch(self, name: str, *arguments: str, known_as: str = "", wrapper: tuple[str, ...] = ()) -> None:
        known_as = known_as or name
        self.daemons.start(known_as, [name, *arguments], self.folder / f"{known_as}.log", self.environment, wrapper)

    def start_controller(self) -> None:
        self.launch("slurmctld", "-D")
        self.wait("slurmctld", lambda: self.run("scontrol", "ping", check=False).returncode == 0)

    def disk_of(self, node: str) -> Path:
        """What the node sees at `own_disk`."""
        return self.folder / "disks" / node

    def start_nodes(self) -> None:
        hosts = self.folder / "hosts"
        hosts.write_text(Path("/etc/hosts").read_text() + "".join(f"127.0.0.{number} {node}\n" for number, node in enumerate(self.nodes, 1)))
        for node in self.nodes:
            (self.folder / "spool" / node).mkdir(exist_ok=True)
            wrapper = ()
            if self.own_disk is not None:
                self.disk_of(node).mkdir(parents=True, exist_ok=True)
                wrapper = ("unshare", "--mount", "sh", "-c", NODE, str(self.disk_of(node)), str(self.own_disk), str(hosts))
            self.launch("slurmd", "-D", "-N", node, known_as=node, wrapper=wrapper)
        self.wait("the nodes", self.has_nodes)

    def has_nodes(self) -> bool:
        states = set(self.run("sinfo", "-h", "-N", "-o", "%T", check=False).stdout.split())
        return bool(states) and states <= {"idle", "mixed"}

    # --- what happens to jobs -----------------------------------------------------------------------------------------

    def kill_job(self, name: str) -> None:
        """kill -9 of the job's own script, as a person or a broken node would."""
        self.run("scancel", "--signal=KILL", "--batch", f"--name={name}")

    def warn_job(self, name: str) -> None:
        """The signal that Slurm sends shortly before a job's time is up (sbatch --signal=B:USR1@…)."""
        self.run("scancel", "--signal=USR1", "--batch", f"--name={name}")

    def cancel_job(self, name: str) -> None:
        self.run("scancel", f"--name={name}")

    def preempt_job(self, name: str) -> None:
        """A more urgent job that needs the whole node, and is gone at once."""
        script = self.folder / "urgent.sh"
        script.write_text("#!/bin/bash\n")
        self.run("sbatch", "--partition=urgent", f"--cpus-per-task={self.cpus}", "--mem=16M", "--output=/dev/null", str(script))

    def requeue_job(self, name: str) -> None:
        """An administrator queues it again, which --no-requeue does not prevent for long."""
        number = self.run("squeue", "-h", f"--name={name}", "-O", "JobID:|").stdout.strip().strip("|")
        self.run("scontrol", "update", f"JobId={number}", "Requeue=1")
        self.run("scontrol", "requeue", number)

    def fail_node(self, name: str) -> None:
        """The node goes down under its jobs, and comes back."""
        self.run("scontrol", "update", f"NodeName={self.node}", "State=DOWN", "Reason=test")
        self.wait("the job's end", lambda: self.state(name) not in ("RUNNING", "COMPLETING"))
        # It may be back by itself: its slurmd registers again.
        self.run("scontrol", "update", f"NodeName={self.node}", "State=RESUME", check=False)
        self.wait("the node", self.has_nodes)

    def shorten_job(self, name: str) -> None:
        """The job may run for a minute in all, as if it had asked for no more."""
        number = self.run("squeue", "-h", f"--name={name}", "-O", "JobID:|").stdout.strip().strip("|")
        self.run("scontrol", "update", f"JobId={number}", "TimeLimit=1")

    def stop_server(self) -> None:
        self.daemons.stop("slurmctld")

    def start_server(self) -> None:
        self.start_controller()

    # --- its own records ----------------------------------------------------------------------------------------------

    def state(self, name: str) -> str:
        return self.run("squeue", "-h", "-a", "--states=all", f"--name={name}", "-O", "State:|").stdout.strip().strip("|")

    def jobs(self) -> list[str]:
        """The name of every job that the cluster has ever taken, one entry a job, from its completion log and its queue."""
        # Asked first: a job that ends and is forgotten in between is in the log.
        queue = self.run("squeue", "-h", "-a", "--states=all", "-O", "JobID:|,Name:|,Reason:|").stdout
        completed = self.folder / "completed"
        ended = [dict(pair.partition("=")[::2] for pair in line.split()) for line in
                 (completed.read_text().splitlines() if completed.exists() else [])]
        known = {row["JobId"]: row["Name"] for row in ended if row.get("NodeCnt") != "0" or row["JobState"] != "FAILED"}
        for line in queue.splitlines():
            number, name, reason, *_ = line.split("|")
            if reason != "BadConstraints":  # refused by sbatch, and yet on record
                known[number] = name
        return list(known.values())

    # --- asking it ----------------------------------------------------------------------------------------------------

    def run(self, *argv: str, check: bool = True) -> subprocess.CompletedProcess:
        return subprocess.run(argv, env=os.environ | {"SLURM_CONF": str(self.patient_config)}, capture_output=True, text=True, check=check,
                              timeout=START_TIMEOUT_S)

    def wait(self, what: str, condition) -> None:
        deadline = time.monotonic() + START_TIMEOUT_S
        while not condition():
            if time.monotonic() > deadline:
                logs = "".join(path.read_text()[-4000:] for path in self.folder.glob("*.log"))
                raise AssertionError(f"waited {START_TIMEOUT_S} s for {what}\n{logs}")
            time.sleep(0.05)  # until another program has done something: nothing announces it
