"""A PBS as its users drive it: what the suite does to its own jobs, by commands that everybody may give; and the real one on PATH.

    PbsOnPath.problem() or PbsOnPath(folder)        for scripts/test --pbs

What a site needs of its jobs is said by variables: CONTRIBUTING.md has their table.
"""

import getpass
import json
import os
import re
import shutil
import socket
import subprocess
import unittest
from pathlib import Path

PROGRAMS = ("qsub", "qstat", "qselect", "qdel", "qsig", "qalter")
COMMAND_LIMIT_S = 240
NOT_ALLOWED = 159  # PBSE_PERM: "Unauthorized Request"
CLOSED_MARK = "# of stop_server: without a listener"
# What of the environment says where the server is, and who asks (builder/schedule/batch_command.cpp).
SERVER_WORDS = ("PBS_CONF_FILE", "PBS_EXEC", "PBS_DEFAULT", "PBS_SERVER", "KRB5CCNAME")
# Lines of pbs.conf (pbs.conf(8B)) that say it, too.
SERVER_LINES = ("PBS_SERVER", "PBS_SERVER_HOST_NAME", "PBS_PRIMARY", "PBS_SECONDARY", "PBS_BATCH_SERVICE_PORT")


class PbsClient:
    def __init__(self, folder: Path, programs: Path, words: dict[str, str]):
        self.folder = folder
        self.programs = programs
        self.words = words
        self.names: dict[str, str] = {}  # of jobs, by their numbers
        self.closed_port: socket.socket | None = None
        self.spoiler = ""  # the job of spoil_answer

    @property
    def environment(self) -> dict[str, str]:
        """The agent's."""
        words = self.words if self.closed_port is None else {"PBS_CONF_FILE": str(self.folder / "pbs.conf")}
        return words | {"PATH": str(self.programs)}

    def run(self, program: str, *arguments: str) -> str:
        done = self.try_run(program, *arguments)
        if done.returncode != 0:
            raise AssertionError(f"{done.args}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def try_run(self, program: str, *arguments: str) -> subprocess.CompletedProcess:
        others = {name: value for name, value in os.environ.items() if name not in SERVER_WORDS}
        return subprocess.run([self.programs / program, *arguments], env=others | self.words, capture_output=True, text=True,
                              timeout=COMMAND_LIMIT_S)

    def running(self, name: str) -> list[str]:
        return self.run("qselect", "-N", name).split()

    # --- what happens to jobs -----------------------------------------------------------------------------------------

    def kill_job(self, name: str) -> None:
        self.run("qsig", "-s", "KILL", *self.running(name))

    def warn_job(self, name: str) -> None:
        """PBS does not: the job sets itself an alarm."""

    def pass_walltime(self, name: str) -> None:
        """The job has less time from now on than it has used, which everybody may say of her own."""
        self.run("qalter", "-l", "walltime=1", *self.running(name))

    def cancel_job(self, name: str) -> None:
        if numbers := self.running(name):
            self.run("qdel", *numbers)

    def suspend_job(self, name: str) -> None:
        done = self.try_run("qsig", "-s", "suspend", *self.running(name))
        if done.returncode == NOT_ALLOWED:
            raise unittest.SkipTest(f"suspending a job needs operator rights here: {done.stderr.strip()}")
        if done.returncode != 0:
            raise AssertionError(f"{done.args}: {done.returncode}\n{done.stdout}{done.stderr}")

    def resume_job(self, name: str) -> None:
        self.run("qsig", "-s", "resume", *self.running(name))

    def spoil_answer(self) -> None:
        """A held job whose name makes the list of all jobs invalid JSON; every user may have one."""
        script = self.folder / "nan.sh"
        script.write_text("#!/bin/sh\n")
        self.spoiler = self.run("qsub", "-h", "-N", "nan", str(script)).strip()

    def restore_answer(self) -> None:
        self.run("qdel", self.spoiler)

    def stop_server(self) -> None:
        """For the agent only: its programs get a port without a listener. The server keeps running for all others."""
        self.closed_port = socket.socket()
        self.closed_port.bind(("127.0.0.1", 0))  # taken, and not listened on
        known = Path(self.words.get("PBS_CONF_FILE", "/etc/pbs.conf"))
        lines = [line for line in (known.read_text().splitlines() if known.exists() else []) if line.partition("=")[0] not in SERVER_LINES]
        lines += [CLOSED_MARK, "PBS_SERVER=localhost", f"PBS_BATCH_SERVICE_PORT={self.closed_port.getsockname()[1]}"]
        (self.folder / "pbs.conf").write_text("\n".join(lines) + "\n")

    def start_server(self) -> None:
        self.closed_port.close()
        self.closed_port = None

    # --- its own records ----------------------------------------------------------------------------------------------

    def jobs(self) -> list[str]:
        """The name of every job of ours that the server remembers, one entry a job."""
        numbers = self.run("qselect", "-x", "-u", getpass.getuser()).split()
        for number in numbers:
            if number not in self.names:
                answer = self.run("qstat", "-x", "-f", "-F", "json", number)
                self.names[number] = re.search(r'"Job_Name":\s*"?([^",]*)', answer)[1]  # no JSON if the name is nan
        return [self.names[number] for number in numbers]


class PbsOnPath(PbsClient):
    @staticmethod
    def problem() -> str:
        """Why the suite cannot run on the PBS of this machine; empty when it can."""
        missing = [name for name in PROGRAMS if shutil.which(name) is None]
        if missing:
            return f"these programs of PBS are not on PATH: {' '.join(missing)}"
        done = subprocess.run(["qselect", "-x", "-u", getpass.getuser()], capture_output=True, text=True, timeout=COMMAND_LIMIT_S)
        if done.returncode != 0:
            return (f"`qselect -x` ends with {done.returncode}: {done.stderr.strip()}. The suite counts its jobs in the server's history "
                    "(its attribute job_history_enable)")
        return ""

    def __init__(self, folder: Path):
        super().__init__(folder, Path(shutil.which("qsub")).parent, {name: os.environ[name] for name in SERVER_WORDS if name in os.environ})

    @staticmethod
    def scheduler(queue: str = "") -> str:
        """The text of [scheduler], as the site's variables say it; `queue`: another one."""
        text = 'kind = "pbs"\nmemory_mib = 256\nmax_memory_mib = 1024\ncores = 1\n'
        for key, value in (("queue", queue or os.environ.get("WHEELYARD_PBS_QUEUE")), ("account", os.environ.get("WHEELYARD_PBS_ACCOUNT"))):
            text += f"{key} = {json.dumps(value)}\n" if value else ""
        options = [line.strip() for line in os.environ.get("WHEELYARD_PBS_OPTIONS", "").split(";") if line.strip()]
        return text + f"options = {json.dumps(options)}\n"
