"""The box's Slurm: the partitions, limits, GPUs, features and required options of the facts, on nodes with a host name, a /tmp and mounts of
their own. Nodes of a site without network there have a link to the login node and to each other, and nothing else; the login node's loopback,
where the registry and the public index listen, is out of their reach.
"""

import subprocess
from pathlib import Path

from support.box.facts import BoxFacts
from support.box.root import hidden_from_nodes, run
from support.slurm_cluster import SlurmCluster

LOGIN = "10.77.0.1"
NODES = {"node1": "10.77.0.11", "node2": "10.77.0.12"}
JOB_DISK = "/localscratch"

# $1: the node's name; $2: what it does not mount; $3: its own disks; then the command.
NODE = """hostname "$1" && mount -t tmpfs -o mode=1777 tmp /tmp && mount -t tmpfs cgroup /sys/fs/cgroup && ip link set lo up
for place in $2; do mount -t tmpfs -o ro,mode=0755 away "$place" || exit 1; done
for place in $3; do mount -t tmpfs -o mode=0755 disk "$place" || exit 1; done
shift 3 && exec "$@"
"""
# Slurm runs it as root before a job's first process: the disks of one job.
PROLOG = f"""#!/bin/bash
mkdir -p {JOB_DISK}/$SLURM_JOB_ID && chown $SLURM_JOB_UID {JOB_DISK}/$SLURM_JOB_ID
case $(scontrol -o show job $SLURM_JOB_ID) in
*Features=nvme*) mkdir -p /mnt/bb/$SLURM_JOB_USER && chown $SLURM_JOB_UID /mnt/bb/$SLURM_JOB_USER ;;
esac
"""
TASK_PROLOG = f"#!/bin/bash\necho export SLURM_TMPDIR={JOB_DISK}/$SLURM_JOB_ID\n"
# What the accounts and qualities of service of the site's database would refuse.
JOB_SUBMIT = """function slurm_job_submit(job, partitions, uid)
    if job.account ~= "@PROJECT@" then
        slurm.log_user("account %s is not @PROJECT@", tostring(job.account))
        return slurm.ERROR
    end
    if "@QOS@" ~= "" and job.qos ~= "@QOS@" then
        slurm.log_user("qos %s is not @QOS@", tostring(job.qos))
        return slurm.ERROR
    end
    return slurm.SUCCESS
end
function slurm_job_modify(job, record, partitions, uid) return slurm.SUCCESS end
return slurm.SUCCESS
"""


class BoxCluster(SlurmCluster):
    def __init__(self, folder: Path, facts: BoxFacts):
        super().__init__(folder, nodes=len(NODES))
        self.facts = facts
        self.nodes = list(NODES)
        self.limits_memory = False

    def make_network(self) -> None:
        run("ip", "link", "set", "lo", "up")
        run("hostname", "login")
        run("ip", "link", "add", "cluster", "type", "bridge")
        run("ip", "addr", "add", f"{LOGIN}/24", "dev", "cluster")
        run("ip", "link", "set", "cluster", "up")
        Path("/etc/hosts").write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in {"login": LOGIN, **NODES}.items()))
        for name, address in NODES.items():
            if not self.facts.offline:
                run("ip", "addr", "add", f"{address}/24", "dev", "cluster")
                continue
            run("ip", "netns", "add", name)
            run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "link", "set", f"to-{name}", "master", "cluster", "up")
            run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", "eth0")
            run("ip", "-n", name, "link", "set", "eth0", "up")

    def write_config(self) -> None:
        facts = self.facts
        nodes = {one["partition"]: one for one in facts.facts.get("node", [])}
        limits = facts.partitions[0]
        size = nodes.get(limits["name"], {"cores": limits["max_cores"], "memory_mib": limits["max_memory_mib"]})
        gpus = f"Gres=gpu:{facts.gpus} " if facts.gpus else ""
        features = f"Feature={','.join(facts.features)} " if facts.features else ""
        if facts.gpus:
            (self.folder / "gres.conf").write_text(f"NodeName={','.join(self.nodes)} Name=gpu File=/dev/gpu[0-{facts.gpus - 1}]\n")
        partitions = ""
        for number, one in enumerate(facts.partitions):
            partitions += (f"PartitionName={one['name'] or 'main'} Nodes=ALL Default={'NO' if number else 'YES'} MaxTime={one['max_minutes']} "
                           f"DefaultTime=10 MaxNodes={one['max_nodes']} MaxMemPerNode={one['max_memory_mib']} MaxCPUsPerNode={one['max_cores']} "
                           f"{'OverSubscribe=EXCLUSIVE ' if one.get('exclusive') else ''}DefMemPerCPU=64 State=UP\n")
        for name, text, mode in (("prolog", PROLOG, 0o755), ("task_prolog", TASK_PROLOG, 0o755), ("job_submit.lua", self.job_submit(), 0o644)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(mode)
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")  # loaded, and not used
        Path(JOB_DISK).mkdir(exist_ok=True)
        self.config.write_text(f"""ClusterName={facts.site}
SlurmctldHost=login({LOGIN})
SlurmctldPort={self.ports[0]}
AuthInfo=socket={self.folder}/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={self.folder}/state
SlurmdSpoolDir={self.folder}/spool/%n
SlurmctldPidFile={self.folder}/slurmctld.pid
SlurmdPidFile={self.folder}/%n.pid
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
EnforcePartLimits=ALL
ReturnToService=2
MessageTimeout=5
KillWait=3
SlurmdTimeout=300
MinJobAge=3600
GresTypes=gpu
JobSubmitPlugins=lua
Prolog={self.folder}/prolog
TaskProlog={self.folder}/task_prolog
PrologFlags=Alloc
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=1
JobCompType=jobcomp/filetxt
JobCompLoc={self.folder}/completed
""" + "".join(f"NodeName={name} NodeHostname={name} NodeAddr={address} Port={port} CPUs={size['cores']} Boards=1 SocketsPerBoard=1 "
              f"CoresPerSocket={size['cores']} ThreadsPerCore=1 RealMemory={size['memory_mib']} {gpus}{features}State=UNKNOWN\n"
              for (name, address), port in zip(NODES.items(), self.ports[1:])) + partitions)

    def job_submit(self) -> str:
        [qos] = [word.partition("=")[2] for word in self.facts.options if word.startswith("--qos=")] or [""]
        return JOB_SUBMIT.replace("@PROJECT@", self.facts.project).replace("@QOS@", qos)

    def start_nodes(self) -> None:
        away = " ".join(place for place in hidden_from_nodes(self.facts) if Path(place).is_dir())
        disks = [mount.path for mount in self.facts.mounts if mount.of_a_job and not mount.path.startswith("$") and mount.path != "/tmp"]
        for node in self.nodes:
            (self.folder / "spool" / node).mkdir(exist_ok=True)
            network = ("ip", "netns", "exec", node) if self.facts.offline else ()
            self.launch("slurmd", "-D", "-N", node, known_as=node,
                        wrapper=(*network, "unshare", "--mount", "--uts", "sh", "-c", NODE, "node", node, away, " ".join([JOB_DISK, *disks])))
        self.wait("the nodes", self.has_nodes)

    def refuses(self, user: int, *options: str) -> str:
        """Why sbatch refuses a job with these options; empty: it does not."""
        done = subprocess.run(["setpriv", f"--reuid={user}", "--clear-groups", "sbatch", "--test-only", *options, "--wrap=true"],
                              env={"PATH": "/usr/bin:/bin", **self.environment}, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stdout + done.stderr
