"""The box's PBS: answers of a real OpenPBS by replay (support/pbs_replay.py), from a server with the queues, limits, nodes and account of the facts.
Its jobs run as their owners on the box's nodes; nothing schedules them: a job that fits starts at once, one that fits no node never does.

    BoxPbs(folder, facts)        a context: the server listens, nodes run
    pbs.py ask PROGRAM …         a client: qsub, qstat, …, or the `mpiexec` of a job
    pbs.py PROGRAM FOLDER …      one command, run by the server as root
"""

import json
import os
import pwd
import re
import shlex
import socket
import struct
import subprocess
import sys
import threading
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[2])
from support import pbs_replay
from support.box.nodes import NODES, becomes_node
from support.daemons import Daemons
from support.farm import BIN
from support.pbs_client import PROGRAMS

FOLDER = Path("/var/spool/pbs")
SOCKET = FOLDER / "socket"
CLIENTS = Path("/opt/pbs/bin")
REQUEST_BYTES = 1 << 20
START_LIMIT_S = 60
RANKS_LIMIT_S = 120
# PBSE_EXCQRESC and PBSE_UNKQUE of pbs_error.h modulo 256; a hook refuses with 1.
EXCEEDS, UNKNOWN_QUEUE, HOOK = 188, 170, 1


def chunks_of(options: dict[str, str]) -> tuple[int, dict[str, int]]:
    """How many chunks, and what one has: "2:ncpus=4:mem=128mb"."""
    count, *words = options.get("-l select", "1:ncpus=1").split(":")
    asked = {name: int(re.match(r"\d+", value)[0]) for name, _, value in (word.partition("=") for word in words)}
    return int(count), asked


def minutes_of(walltime: str) -> int:
    hours, minutes, seconds = (int(word) for word in walltime.split(":"))
    return hours * 60 + minutes + (seconds > 0)


class BoxServer(pbs_replay.Server):
    program = Path(__file__)

    def __init__(self, folder: Path):
        super().__init__(folder)
        self.site = json.loads((folder / "site.json").read_text())

    # --- limits -----------------------------------------------------------------------------------------------------------

    def limits_of(self, queue: dict) -> dict[str, int]:
        node = self.site["node"]
        return {"nodect": queue["max_nodes"], "ncpus": queue["max_nodes"] * queue["max_cores"], "ngpus": queue["max_nodes"] * node["gpus"],
                "mem": queue["max_nodes"] * queue["max_memory_mib"]}

    def user(self) -> str:
        return pwd.getpwuid(int(os.environ["BOX_USER"])).pw_name

    def refuse(self, options: dict[str, str]) -> int:
        queues = {one["name"]: one for one in self.site["queues"]}
        queue = queues.get(options.get("-q", self.site["queues"][0]["name"]))
        if queue is None:
            return pbs_replay.answer("qsub_unknown_queue")
        if options.get("-A") != self.site["account"]:
            sys.stderr.write(f"qsub: account {options.get('-A')} is not {self.site['account']}\n")
            return HOOK
        for name in self.site["required"]:
            if f"-l {name}" not in options:
                sys.stderr.write(f"qsub: Resource: {name} is required to be set.\n")  # as ALCF's guide has it
                return HOOK
        count, chunk = chunks_of(options)
        unknown = set(chunk) - {"ncpus", "mpiprocs", "ngpus", "mem"}
        if unknown:
            return pbs_replay.answer("qsub_bad_resource", nosuch=min(unknown))
        asked = {"nodect": count} | {name: count * value for name, value in chunk.items()}
        limits = self.limits_of(queue)
        if minutes_of(options.get("-l walltime", "0:01:00")) > queue["max_minutes"] or any(asked.get(name, 0) > limit for name, limit in limits.items()):
            sys.stderr.write("qsub: Job violates queue and/or server resource limits\n")
            return EXCEEDS
        return 0

    def describe(self, options: dict[str, str]) -> dict:
        count, chunk = chunks_of(options)
        node = self.site["node"]
        job = {"owner": int(os.environ["BOX_USER"]), "chunks": count, "chunk": chunk}
        for name, there in (("ncpus", node["cores"]), ("ngpus", node["gpus"]), ("mem", node["memory_mib"])):
            if chunk.get(name, 0) > there:
                job["comment"] = f"Can Never Run: Insufficient amount of resource: {name} (R: {chunk[name]} A: {there} T: {there})"
        if count > len(NODES):
            job["comment"] = f"Can Never Run: Not enough total nodes available (the box has {len(NODES)})"
        return job

    def print_survey(self, kind: str, names: list[str]) -> int:
        queues = {one["name"]: one for one in self.site["queues"]}
        node = self.site["node"]
        if unknown := [name for name in names if name not in queues]:
            sys.stderr.write(f"qstat: Unknown queue {unknown[0]}\n")
            return UNKNOWN_QUEUE
        if kind == "server":
            print(f"Server: {pbs_replay.HOST}\n    server_state = Active\n    default_queue = {next(iter(queues))}\n    job_history_enable = True\n")
        elif kind == "nodes":
            for name in NODES:
                print(f"{name}\n     ntype = PBS\n     state = free\n     resources_available.mem = {node['memory_mib'] * 1024}kb\n"
                      f"     resources_available.ncpus = {node['cores']}\n     resources_available.ngpus = {node['gpus']}\n")
        for name in names or queues if kind == "queues" else ():
            queue = queues[name]
            limits = self.limits_of(queue)
            print(f"Queue: {name}\n    queue_type = Execution\n    resources_max.mem = {limits['mem']}mb\n    resources_max.ncpus = {limits['ncpus']}\n"
                  f"    resources_max.ngpus = {limits['ngpus']}\n    resources_max.nodect = {limits['nodect']}\n"
                  f"    resources_max.walltime = {queue['max_minutes'] // 60:02}:{queue['max_minutes'] % 60:02}:00\n    enabled = True\n    started = True\n")
        return 0

    # --- jobs on nodes ----------------------------------------------------------------------------------------------------

    def nodes_of(self, job: dict) -> list[str]:
        first = job["number"] % len(NODES) if job["chunks"] == 1 else 0
        return list(NODES)[first:first + job["chunks"]]

    def on_node(self, name: str, user: int) -> list[str]:
        """The words before a command of this user that let it run on a node."""
        owner = pwd.getpwuid(user)
        pid = str(self.site["pids"][name])
        return ["nsenter", "--target", pid, "--mount", "--uts", "--net", "--root", "--wd", "--",
                "setpriv", f"--reuid={user}", f"--regid={owner.pw_gid}", "--clear-groups", "--"]

    def command_of(self, job: dict, script: Path) -> list[str]:
        """The mother superior's: with the list of nodes, by the owner's login shell."""
        names = self.nodes_of(job)
        hosts = self.folder / f"{job['number']}.nodes"
        hosts.write_text("".join(f"{name}\n" * job["chunk"].get("mpiprocs", 1) for name in names))
        return [*self.on_node(names[0], job["owner"]), "/bin/sh", "-c", 'cd && exec /bin/bash -l "$0"', str(script)]

    def environment_of(self, job: dict) -> dict[str, str]:
        owner = pwd.getpwuid(job["owner"])
        return super().environment_of(job) | {
            "HOME": owner.pw_dir, "USER": owner.pw_name, "LOGNAME": owner.pw_name, "SHELL": "/bin/bash", "TMPDIR": "/tmp",
            "PBS_NODEFILE": str(self.folder / f"{job['number']}.nodes"), "NCPUS": str(job["chunk"].get("ncpus", 1)), **self.gpus_of(job)}

    def gpus_of(self, job: dict) -> dict[str, str]:
        count = job["chunk"].get("ngpus", self.site["cuda_with_node"])
        return {"CUDA_VISIBLE_DEVICES": ",".join(str(number) for number in range(count))}

    def deliver(self, job: dict, output: Path, text: bytes) -> None:
        super().deliver(job, output, text)
        if output.exists():
            os.chown(output, job["owner"], pwd.getpwuid(job["owner"]).pw_gid)

    def run_ranks(self, arguments: list[str], user: int, folder: str, environment: dict[str, str], streams: list[int]) -> int:
        """`mpiexec -n RANKS -ppn PER_NODE --cpu-bind KIND -d DEPTH COMMAND…` of PALS: every rank has the variables of the caller."""
        options = {"-n": "1", "-ppn": "1", "--cpu-bind": "none", "-d": "1"}
        while arguments and arguments[0].startswith("-"):
            if arguments[0] not in options:
                os.write(streams[1], f"mpiexec: unrecognized option {arguments[0]}\n".encode())
                return 255
            options[arguments[0]] = arguments[1]
            arguments = arguments[2:]
        size, per_node = int(options["-n"]), int(options["-ppn"])
        job = self.find(environment.get("PBS_JOBID", ""))
        if job is None or job["owner"] != user or job["state"] != "R":
            os.write(streams[1], b"mpiexec: no job of this user runs under $PBS_JOBID\n")
            return 255
        names = self.nodes_of(job)
        if size > per_node * len(names):
            os.write(streams[1], f"mpiexec: {size} ranks, {per_node} on a node, do not fit on {len(names)} nodes\n".encode())
            return 255
        ranks = []
        for rank in range(size):
            node, local = divmod(rank, per_node)
            words = {"PALS_RANKID": rank, "PALS_NODEID": node, "PALS_LOCAL_RANKID": local, "PMI_RANK": rank, "PMI_SIZE": size, "PMI_LOCAL_RANK": local,
                     "PMI_LOCAL_SIZE": per_node}
            there = shlex.join(["cd", folder]) + " && exec " + shlex.join(arguments)
            ranks.append(subprocess.Popen([*self.on_node(names[node], user), "/bin/sh", "-c", there], stdin=subprocess.DEVNULL, stdout=streams[0],
                                          stderr=streams[1], env=environment | self.gpus_of(job) | {name: str(word) for name, word in words.items()}))
        try:
            return max(abs(one.wait(RANKS_LIMIT_S)) for one in ranks)
        except subprocess.TimeoutExpired:
            os.write(streams[1], f"mpiexec: the ranks did not end in {RANKS_LIMIT_S} s\n".encode())
            return 254
        finally:
            for one in ranks:
                one.kill()
                one.wait()


class BoxPbs:
    """The server beside the login node's people, and the nodes."""

    def __init__(self, folder: Path, facts):
        self.folder = folder
        self.facts = facts
        self.daemons = Daemons()
        self.closing = threading.Event()

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": f"{BIN}:{CLIENTS}:/usr/bin:/bin"}

    def __enter__(self) -> "BoxPbs":
        for place in (self.folder, FOLDER, CLIENTS):
            place.mkdir(parents=True, exist_ok=True)
            place.chmod(0o755)
        for name in (*PROGRAMS, "pbsnodes"):
            client(CLIENTS / name, name)
        for name in NODES:
            self.daemons.start(name, ["sleep", "infinity"], self.folder / f"{name}.log", {}, becomes_node(self.facts, name))
        pbs_replay.wait(lambda: all(self.is_node(name) for name in NODES), START_LIMIT_S)
        for name in NODES:
            if not self.is_node(name):
                raise AssertionError(f"{name} did not start: " + (self.folder / f"{name}.log").read_text())
        facts = self.facts
        of_queue = {one["partition"]: one for one in facts.facts.get("node", [])}
        first = facts.partitions[0]
        size = of_queue.get(first["name"], {"cores": first["max_cores"], "memory_mib": first["max_memory_mib"], "gpus": facts.gpus})
        (FOLDER / "site.json").write_text(json.dumps(
            {"queues": facts.partitions, "account": facts.account, "node": size, "cuda_with_node": facts.gpus_with_node if facts.is_a("cuda") else 0,
             "required": [re.match(r"-l (\w+)=", one)[1] for one in facts.options if re.match(r"-l (?!place)\w+=", one)],
             "pids": {name: self.daemons.running[name].pid for name in NODES}}))
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(SOCKET))
        SOCKET.chmod(0o777)
        self.listener.listen()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.closing.set()
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        server = BoxServer(FOLDER)
        for job in server.jobs():
            if job["state"] != "F":
                pbs_replay.end_job(server, job, 0, 91)
        self.daemons.stop_all()

    def is_node(self, name: str) -> bool:
        """Whether its process has done all that makes it a node: it is `sleep` then."""
        return Path(f"/proc/{self.daemons.running[name].pid}/comm").read_text() == "sleep\n"

    def serve(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                if self.closing.is_set():
                    return
                raise
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    @staticmethod
    def answer(connection: socket.socket) -> None:
        """One command, as root, with the client's streams."""
        with connection:
            _, user, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
            _, streams, _, _ = socket.recv_fds(connection, 1, 2)
            request = json.loads(connection.makefile().read(REQUEST_BYTES))
            program, *arguments = request["words"]
            if program == "mpiexec":
                status = BoxServer(FOLDER).run_ranks(arguments, user, request["folder"], request["environment"], streams)
            else:
                status = subprocess.run([sys.executable, "-B", __file__, program, FOLDER, *arguments], stdin=subprocess.DEVNULL, stdout=streams[0],
                                        stderr=streams[1], cwd=request["folder"], env={"PATH": os.environ["PATH"], "BOX_USER": str(user)}).returncode
            for stream in streams:
                os.close(stream)
            connection.sendall(str(status).encode())

    # --- what run.py asks every batch system ------------------------------------------------------------------------------

    def jobs(self) -> list[str]:
        return [job["name"] for job in BoxServer(FOLDER).jobs()]

    def refuses(self, user: int, account: str, partition: str = "", minutes: int = 1, nodes: int = 1) -> str:
        """Why qsub refuses such a job; empty: it does not, and the job, which was held, is deleted again."""
        script = self.folder / "held.sh"
        script.write_text("#!/bin/sh\n")
        asked = ["-h", "-A", account, "-l", f"walltime={minutes // 60}:{minutes % 60:02}:00", "-l", f"select={nodes}:ncpus=1"]
        asked += ["-q", partition] if partition else []
        asked += [word for one in sorted(self.facts.options) for word in shlex.split(one)]
        as_user = ["setpriv", f"--reuid={user}", "--clear-groups"]
        done = subprocess.run([*as_user, CLIENTS / "qsub", *asked, script], capture_output=True, text=True)
        if done.returncode != 0:
            return done.stdout + done.stderr
        subprocess.run([*as_user, CLIENTS / "qdel", done.stdout.strip()], check=True, capture_output=True)
        return ""

    def submission(self, out: str) -> str:
        return f"qsub -W block=true -o {out}"


def client(path: Path, name: str) -> None:
    path.write_text(client_text(name))
    path.chmod(0o755)


def client_text(name: str) -> str:
    return f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -B -I {shlex.quote(__file__)} ask {name} "$@"\n'


def ask(words: list[str]) -> int:
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(str(SOCKET))
        socket.send_fds(server, [b"\0"], [1, 2])
        server.sendall(json.dumps({"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}).encode())
        server.shutdown(socket.SHUT_WR)
        return min(int(server.makefile().read() or 1), 255)


if __name__ == "__main__":
    if sys.argv[1] == "ask":
        sys.exit(ask(sys.argv[2:]))
    sys.exit(pbs_replay.obey(BoxServer(Path(sys.argv[2])), sys.argv[1], sys.argv[3:]))
