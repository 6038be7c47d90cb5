"""The box's Slurm: the partitions, limits, GPUs, features and required options of the facts, on the box's nodes."""

import re
import subprocess
from pathlib import Path

from support.box.facts import BoxFacts
from support.box.nodes import JOB_DISK, LOGIN, NODES, becomes_node
from support.slurm_cluster import SlurmCluster

# Slurm runs it as root before a job's first process: the disks of one job.
PROLOG = f"""#!/bin/bash
mkdir -p {JOB_DISK}/$SLURM_JOB_ID && chown $SLURM_JOB_UID {JOB_DISK}/$SLURM_JOB_ID
case $(scontrol -o show job $SLURM_JOB_ID) in
*Features=nvme*) mkdir -p /mnt/bb/$SLURM_JOB_USER && chown $SLURM_JOB_UID /mnt/bb/$SLURM_JOB_USER ;;
esac
"""
TASK_PROLOG = f"#!/bin/bash\necho export SLURM_TMPDIR={JOB_DISK}/$SLURM_JOB_ID\n"
# What the accounts and qualities of service of the site's database would refuse, and what the site's filter refuses. An unset number is
# Slurm's NO_VAL16, NO_VAL or nil.
JOB_SUBMIT = """local qualities = {@QOS@}
local not_asked = {@NOT_ASKED@}
local function set(number, unset)
    return number ~= nil and number < unset and number or nil
end
local function refuse(...)
    slurm.log_user(...)
    return slurm.ERROR
end
function slurm_job_submit(job, partitions, uid)
    if job.account ~= "@PROJECT@" then return refuse("account %s is not @PROJECT@", tostring(job.account)) end
    local limit = qualities[job.qos or ""]
    if next(qualities) and not limit then return refuse("no QOS %s for you", tostring(job.qos)) end
    if limit and ((set(job.time_limit, 4294967294) or 0) > limit.minutes or (set(job.min_nodes, 4294967294) or 1) > limit.nodes) then
        return refuse("qos %s: QOSMaxWallDurationPerJobLimit or QOSMaxNodePerJobLimit", job.qos)
    end
    if not_asked.memory and (job.min_mem_per_node or job.min_mem_per_cpu) then return refuse("cli_filter: memory comes by itself") end
    local cores = set(job.cpus_per_task, 65534)
    if not_asked.cores and cores then return refuse("cli_filter: cores come with the GPUs") end
    local least = @CORES_PER_GPU@ * tonumber(string.match(job.tres_per_node or "", "gpu:(%d+)") or 0)
    if not not_asked.cores and (set(job.ntasks_per_node, 65534) or 1) * (cores or 1) < least then
        return refuse("%d cores come with these GPUs, ask for them", least)
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

    def write_config(self) -> None:
        facts = self.facts
        nodes = {one["partition"]: one for one in facts.facts.get("node", [])}
        limits = facts.partitions[0]
        node = nodes.get(limits["name"], {})
        size = {"cores": node.get("cores") or limits["max_cores"], "memory_mib": node.get("memory_mib") or limits["max_memory_mib"]}
        gpus = f"Gres=gpu:{facts.gpus} " if facts.gpus else ""
        features = f"Feature={','.join(facts.features)} " if facts.features else ""
        if facts.gpus:
            (self.folder / "gres.conf").write_text(f"NodeName={','.join(self.nodes)} Name=gpu File=/dev/gpu[0-{facts.gpus - 1}]\n")
        partitions = ""
        for number, one in enumerate(facts.partitions):
            whole = one["max_memory_mib"] // one["max_cores"]
            memory = nodes.get(one["name"], {}).get("memory_per_core_mib") or (whole if one.get("exclusive") or "memory" in facts.not_asked else 64)
            with_gpu = f"DefCpuPerGPU={facts.cores_per_gpu} " if "cores" in facts.not_asked else ""
            partitions += (f"PartitionName={one['name'] or 'main'} Nodes=ALL Default={'NO' if number else 'YES'} MaxTime={one['max_minutes']} "
                           f"DefaultTime=10 MaxNodes={one['max_nodes']} MaxMemPerNode={one['max_memory_mib']} MaxCPUsPerNode={one['max_cores']} "
                           f"{'OverSubscribe=EXCLUSIVE ' if one.get('exclusive') else ''}DefMemPerCPU={memory} {with_gpu}State=UP\n")
        for name, text, mode in (("prolog", PROLOG, 0o755), ("task_prolog", TASK_PROLOG, 0o755), ("job_submit.lua", self.job_submit(), 0o644)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(mode)
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n")  # loaded, and not used
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
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
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
        limits = {one["name"]: one for one in self.facts.facts.get("qos", [])}
        qualities = ", ".join(f'["{name}"] = {{minutes = {limits.get(name, {}).get("max_minutes", 10**6)}, nodes = {limits.get(name, {}).get("max_nodes", 10**6)}}}'
                              for name in self.facts.qualities)
        words = {"@PROJECT@": self.facts.account, "@QOS@": qualities, "@CORES_PER_GPU@": str(self.facts.cores_per_gpu),
                 "@NOT_ASKED@": ", ".join(f"{what} = true" for what in self.facts.not_asked)}
        return re.sub("@[A-Z_]+@", lambda match: words[match[0]], JOB_SUBMIT)

    def start_nodes(self) -> None:
        for node in self.nodes:
            (self.folder / "spool" / node).mkdir(exist_ok=True)
            self.launch("slurmd", "-D", "-N", node, known_as=node, wrapper=becomes_node(self.facts, node))
        self.wait("the nodes", self.has_nodes)

    def refuses(self, user: int, account: str, partition: str = "", minutes: int = 1, nodes: int = 1, qos: str = "") -> str:
        """Why sbatch refuses such a job; empty: it does not."""
        asked = [f"--account={account}", *sorted(self.facts.options), f"--time={minutes}", f"--nodes={nodes}"]
        asked += [f"--qos={qos}"] if qos else []  # the last one counts
        asked += [] if "memory" in self.facts.not_asked else ["--mem=16"]
        asked += [f"--partition={partition}"] if partition else []
        done = subprocess.run(["setpriv", f"--reuid={user}", "--clear-groups", "sbatch", "--test-only", *asked, "--wrap=true"],
                              env={"PATH": "/usr/bin:/bin", **self.environment}, capture_output=True, text=True)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def submission(self, out: str) -> str:
        """The command by which a user submits a job and waits for its end."""
        return f"sbatch --wait --output={out}"
