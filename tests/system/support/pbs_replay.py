"""A PBS that answers with recordings: qsub, qstat, qselect, qdel, qsig and qalter for tests on machines that have no PBS.

Every answer is one that a real OpenPBS 23.06 gave (tests/builder/schedule/data/pbs/), with this job's number, name and exit status put in; a job's
script really runs, in a session of its own, and is killed as PBS kills. Not recorded, and so not here: queues that fill up, nodes that fail.
No recordings are: qselect's answer (ids, one a line, as qselect(1B) says), qsig's and qalter's (none, as for every user who succeeds), and the name
of a job that is called nan, which a real server prints without quotes. How a job ends is as docs/reference/schedulers.md's table says.

    with PbsReplay(folder) as batch:
        environment = farm.environment | batch.environment
"""

import fcntl
import json
import os
import pwd
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])
from support.pbs_client import CLOSED_MARK, PROGRAMS, PbsClient

RECORDINGS = Path(__file__).resolve().parents[2] / "builder" / "schedule" / "data" / "pbs"
HOST = "pbshost"
WAIT_LIMIT_S = 240
WORDS = re.compile(r"\s+")


def recording(name: str) -> tuple[str, str, int]:
    """(standard output, standard error, exit status) of a recorded command."""
    text = (RECORDINGS / f"{name}.txt").read_text().split("\n", 1)[1]
    body, _, status = text.rpartition("[rc ")
    out, _, err = body.partition("[stderr]\n")
    return out, err, int(status.strip(" ]\n"))


def recorded_job(name: str) -> dict:
    answer = json.loads(recording(name)[0])
    return next(iter(answer["Jobs"].values()))


def session_members(session: int) -> list[int]:
    members = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session and fields[0] != "Z":
                members.append(int(entry.name))
    return members


def signal_session(session: int, number: int) -> None:
    for pid in session_members(session):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Server:
    """The jobs as files of a folder, one a job."""

    program = Path(__file__)  # whose command `run` is a job's life

    def __init__(self, folder: Path):
        self.folder = folder

    # --- what a server of another machine replaces ------------------------------------------------------------------------

    def user(self) -> str:
        """Who asks, as the agent names its user (builder/schedule/scheduler.cpp)."""
        try:
            return pwd.getpwuid(os.geteuid()).pw_name
        except KeyError:
            return str(os.geteuid())

    def refuse(self, options: dict[str, str]) -> int:
        """Prints why qsub refuses a job; the exit status, 0: it does not."""
        if (refusal := self.folder / "refusal").exists():  # of a hook: the text of the site
            with open(self.folder / "refused", "a") as asked:
                asked.write(options["-N"] + "\n")
            sys.stderr.write(f"qsub: {refusal.read_text()}\n")
            return 1
        if options.get("-q", "main") != "main":
            return answer("qsub_unknown_queue")
        if "nosuch" in options.get("-l select", ""):
            return answer("qsub_bad_resource")
        return 0

    def describe(self, options: dict[str, str]) -> dict:
        """More of a new job: with a `comment` it waits forever."""
        return {}

    def print_survey(self, kind: str, names: list[str]) -> int:
        """What the server prints of its queues, its nodes and itself (tests/builder/schedule/data/pbs_survey)."""
        sys.stdout.write((RECORDINGS.parent / "pbs_survey" / f"{kind}.txt").read_text())
        return 0

    def command_of(self, job: dict, script: Path) -> list[str]:
        return ["/bin/bash", str(script)]

    def environment_of(self, job: dict) -> dict[str, str]:
        return {"HOME": os.environ.get("HOME", "/"), "PATH": "/usr/bin:/bin", "PBS_ENVIRONMENT": "PBS_BATCH", "PBS_JOBID": job["id"],
                "PBS_JOBNAME": job["name"]}

    def deliver(self, job: dict, output: Path, text: bytes) -> None:
        if output.parent.is_dir():
            output.write_bytes(text)

    # --- its jobs ---------------------------------------------------------------------------------------------------------

    @contextmanager
    def locked(self):
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    @property
    def is_down(self) -> bool:
        """Whether the pbs.conf of stop_server names an address without a listener; any other one is not the suite's."""
        conf = Path(os.environ.get("PBS_CONF_FILE", ""))
        if not conf.is_file() or CLOSED_MARK not in conf.read_text():
            return False
        words = dict(line.partition("=")[::2] for line in conf.read_text().splitlines())
        with socket.socket() as probe:
            return probe.connect_ex((words["PBS_SERVER"], int(words["PBS_BATCH_SERVICE_PORT"]))) != 0

    def jobs(self) -> list[dict]:
        return sorted((json.loads(path.read_text()) for path in self.folder.glob("*.job")), key=lambda job: job["number"])

    def find(self, word: str) -> dict | None:
        return next((job for job in self.jobs() if job["id"] in (word, f"{word}.{HOST}")), None)

    def write(self, job: dict) -> None:
        self.put(f"{job['number']}.job", json.dumps(job))

    def put(self, name: str, text: str) -> None:
        """At once: others read it at any time."""
        temporary = self.folder / f"{name}.tmp"
        temporary.write_text(text)
        temporary.rename(self.folder / name)

    def finish(self, number: int, exit_status: int, substate: int) -> None:
        with self.locked():
            job = next(job for job in self.jobs() if job["number"] == number)
            if job["state"] in "RS":
                self.write(job | {"state": "F", "exit_status": exit_status, "substate": substate})

    @property
    def has_history(self) -> bool:
        return not (self.folder / "no_history").exists()


def answer(name: str, **words: str) -> int:
    out, err, status = recording(name)
    for old, new in words.items():
        out, err = out.replace(old, new), err.replace(old, new)
    sys.stdout.write(out)
    sys.stderr.write(err)
    return status


def directives(script: Path) -> dict[str, str]:
    options = {}
    for line in script.read_text().splitlines():
        if line.startswith("#PBS "):
            option, _, value = line[5:].partition(" ")
            for part in WORDS.split(value) if option == "-l" else [value]:
                key, _, rest = part.partition("=")
                options[f"-l {key}" if option == "-l" else option] = rest if option == "-l" else value
    return options


def given(arguments: list[str]) -> dict[str, str]:
    """`-h`, `-N NAME`, `-W block=true` and the like of the command line."""
    options = {"-h": "u"} if "-h" in arguments else {}
    for option in ("-N", "-W", "-o", "-q", "-A", "-j"):
        if option in arguments:
            options[option] = arguments[arguments.index(option) + 1]
    for place, word in enumerate(arguments):
        if word == "-l":
            key, _, value = arguments[place + 1].partition("=")
            options[f"-l {key}"] = value
    return options


def pbsnodes(server: Server, arguments: list[str]) -> int:
    return server.print_survey("nodes", [])


def qsub(server: Server, arguments: list[str]) -> int:
    if arguments == ["--version"]:
        print("pbs_version = 23.06.06")
        return 0
    if server.is_down:
        return answer("qsub_server_down")
    script = Path(arguments[-1])
    if not script.exists():
        return answer("qsub_missing_script")
    options = directives(script) | given(arguments[:-1])
    if refused := server.refuse(options):
        return refused
    if not re.fullmatch(r"\d+:\d\d:\d\d", options.get("-l walltime", "0:01:00")):
        return answer("qsub_bad_walltime")
    name = options.get("-N", script.name)
    if len(name) > 15 or not name[0].isalpha():
        sys.stderr.write("qsub: illegal -N value\n")
        return 2
    with server.locked():
        number = len(server.jobs())
        spool = server.folder / f"{number}.sh"
        spool.write_text(script.read_text())
        job = {"number": number, "id": f"{number}.{HOST}", "name": name, "runs": 1, "state": "R", "substate": 42, "user": server.user(),
               "variables": options.get("-v", "")} | server.describe(options)
        if "-h" in options:
            job |= {"state": "H", "substate": 20, "runs": 0}
        elif "comment" in job:
            job |= {"state": "Q", "substate": 10, "runs": 0}
        server.write(job)
    if job["state"] == "R":
        start_runner(server, number, options.get("-o", ""))
    status = answer("qsub_ok", **{f"0.{HOST}": f"{number}.{HOST}"})
    if options.get("-W") == "block=true":
        sys.stdout.flush()
        wait(lambda: server.find(str(number))["state"] == "F")
        status = server.find(str(number))["exit_status"]
    return status


def start_runner(server: Server, number: int, output: str) -> None:
    runner = subprocess.Popen([sys.executable, "-B", server.program, "run", str(server.folder), str(number), output],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True, cwd="/")
    del runner


def run_job(server: Server, number: int, output: str) -> int:
    """What pbs_mom does: the script in a session of its own, its output brought back at the end, its leftovers killed."""
    job = server.find(str(number))
    spooled = server.folder / f"{number}.OU"
    with open(spooled, "wb") as words:
        process = subprocess.Popen(server.command_of(job, server.folder / f"{number}.sh"), env=server.environment_of(job), cwd="/",
                                   stdin=subprocess.DEVNULL, stdout=words, stderr=words, start_new_session=True)
    server.put(f"{number}.session", str(process.pid))
    code = process.wait()
    signal_session(process.pid, signal.SIGKILL)
    if output:
        server.deliver(job, Path(output), spooled.read_bytes())
    server.finish(number, 256 - code if code < 0 else code, 92 if code == 0 else 93)
    return 0


def render_job(job: dict) -> dict:
    """The recorded job that ended, or runs, like this one."""
    if job["state"] in "HQ":
        template = "qstat_held_json"
    elif job["state"] in "RS":
        template = "qstat_running_json"
    elif job["substate"] == 91:
        template = "finished_deleted_json"
    elif job["exit_status"] == -29:
        template = "finished_walltime_json"
    elif job["exit_status"] > 128:
        template = "finished_sigkill_json"
    else:
        template = "finished_ok_json" if job["exit_status"] == 0 else "finished_exit4_json"
    shown = recorded_job(template) | {"Job_Name": job["name"], "job_state": job["state"], "run_count": job["runs"],
                                      "Job_Owner": f"{job['user']}@{HOST}"}
    shown["Variable_List"] |= dict(pair.partition("=")[::2] for pair in job["variables"].split(",") if pair)
    if job["state"] == "F":
        shown["Exit_status"] = job["exit_status"]
    if "comment" in job:
        shown["comment"] = job["comment"]
    return shown


def qstat(server: Server, arguments: list[str]) -> int:
    if server.is_down:
        return answer("qstat_server_down")
    if arguments[:1] in (["-Q"], ["-B"]):
        names = [word for word in arguments if not word.startswith("-")]
        return server.print_survey("queues" if arguments[0] == "-Q" else "server", names)
    words = [word for word in arguments if not word.startswith("-") and word != "json"]
    history = "-x" in arguments
    if history and not server.has_history:
        return without_history(words)
    chosen = [job for job in server.jobs() if history or job["state"] != "F"]
    if not words:
        (server.folder / "asked_for_all").touch()
    if words:
        job = server.find(words[0])  # of several the first one alone, as recorded
        if job is None or (job["state"] == "F" and not server.has_history):
            return answer("qstat_unknown_job", **{"99999": words[0].removesuffix(f".{HOST}")})
        if job["state"] == "F" and not history:
            return answer("qstat_finished_without_x", **{f"0.{HOST}": job["id"]})
        chosen = [job]
    shown = {key: value for key, value in json.loads(recording("qstat_running_json")[0]).items() if key != "Jobs"}
    if chosen:
        shown["Jobs"] = {job["id"]: render_job(job) for job in chosen}
    print(json.dumps(shown, indent="\t").replace('"nan"', "nan"))
    return 0


def without_history(words: list[str]) -> int:
    sys.stderr.write(f"qstat: PBS is not configured to maintain job history {' '.join(words)}\n")
    return 35


def qselect(server: Server, arguments: list[str]) -> int:
    if server.is_down:
        return answer("qstat_server_down")
    if "-x" in arguments and not server.has_history:
        return without_history([])
    name, user = (arguments[arguments.index(option) + 1] if option in arguments else "" for option in ("-N", "-u"))
    for job in server.jobs():
        if name in ("", job["name"]) and user in ("", job["user"]) and ("-x" in arguments or job["state"] != "F"):
            print(job["id"])
    return 0


def session_of(server: Server, job: dict) -> int:
    file = server.folder / f"{job['number']}.session"
    wait(file.exists)
    return int(file.read_text())


def end_job(server: Server, job: dict, exit_status: int, substate: int, comment: str = "") -> None:
    """TERM to every process of the job, then KILL: how PBS ends one. The youngest first: the order is not fixed, and a parent that sees its child
    end by the signal must not take that for an end of its own."""
    with server.locked():
        ended = job | {"state": "F", "exit_status": exit_status, "substate": substate}
        server.write(ended | ({"comment": f"Job run at Sun Nov 22 at 07:23 on ({HOST}:ncpus=1) and {comment}"} if comment else {}))
    if job["state"] in "HQ":
        return
    session = session_of(server, job)
    for pid in sorted(session_members(session), reverse=True):
        try:
            os.kill(pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    wait(lambda: not session_members(session))
    signal_session(session, signal.SIGKILL)


def qdel(server: Server, arguments: list[str]) -> int:
    if server.is_down:
        return answer("qsub_server_down")
    status = 0
    for word in arguments:
        job = server.find(word)
        if job is None:
            status = answer("qdel_unknown", **{"99999": word.removesuffix(f".{HOST}")})
        elif job["state"] == "F":
            status = answer("qstat_finished_without_x", **{f"0.{HOST}": job["id"]})
        elif job["user"] != server.user():
            sys.stderr.write(f"qdel: Unauthorized Request  {job['id']}\n")
            status = 159
        else:
            end_job(server, job, 271, 91, f"terminated by wypbs@{HOST}")
    return status


def qsig(server: Server, arguments: list[str]) -> int:
    name = arguments[arguments.index("-s") + 1]
    number = {"suspend": signal.SIGSTOP, "resume": signal.SIGCONT}.get(name) or signal.Signals[f"SIG{name}"]
    for word in arguments[2:]:
        session = session_of(server, server.find(word))
        with server.locked():  # a job that goes on may end at once
            signal_session(session, number)
            job = server.find(word)
            if name in ("suspend", "resume") and job["state"] in "RS":
                server.write(job | {"state": "S" if name == "suspend" else "R"})
    return 0


def qalter(server: Server, arguments: list[str]) -> int:
    """`-l walltime=1`, which is less than the job has run."""
    for word in arguments[2:]:
        end_job(server, server.find(word), -29, 93)
    return 0


def wait(condition, limit_s: float = WAIT_LIMIT_S) -> None:
    deadline = time.monotonic() + limit_s
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)  # until a process has ended: nothing announces it


class PbsReplay(PbsClient):
    def __init__(self, folder: Path):
        super().__init__(folder, folder / "bin", {})
        self.server = Server(folder / "server")
        self.server.folder.mkdir(parents=True)
        self.programs.mkdir()
        for name in (*PROGRAMS, "pbsnodes"):
            program = self.programs / name
            program.write_text(f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -B {shlex.quote(__file__)} {name} "
                               f'{shlex.quote(str(self.server.folder))} "$@"\n')
            program.chmod(0o755)

    def __enter__(self) -> "PbsReplay":
        return self

    def __exit__(self, *_) -> None:
        for job in self.server.jobs():
            if job["state"] != "F":
                end_job(self.server, job, 0, 91)

    def warn_job(self, name: str) -> None:
        """What the job's own alarm does, sooner."""
        job = next(job for job in self.server.jobs() if job["name"] == name)
        os.kill(session_of(self.server, job), signal.SIGUSR1)

    def preempt_job(self, name: str) -> None:
        """As the scheduler does with preempt_order "D"."""
        job = next(job for job in self.server.jobs() if job["name"] == name)
        end_job(self.server, job, 271, 91, f"terminated by Scheduler@{HOST}")

    def rerun_job(self, name: str) -> None:
        """A forced qrerun: the job ends, and waits to run a second time under the same id."""
        job = next(job for job in self.server.jobs() if job["name"] == name)
        end_job(self.server, job, 271, 93)
        with self.server.locked():
            self.server.write(job | {"state": "Q"})

    def refuse_jobs(self, text: str) -> None:
        """A queuejob hook of the site, with its own words."""
        (self.server.folder / "refusal").write_text(text)

    def take_jobs(self) -> None:
        (self.server.folder / "refusal").unlink()

    def refused(self) -> list[str]:
        """The name of each job that the hook refused."""
        path = self.server.folder / "refused"
        return path.read_text().split() if path.exists() else []

    def add_strangers_job(self, name: str) -> None:
        """A job of another user, held, with a name of ours."""
        with self.server.locked():
            number = len(self.server.jobs())
            self.server.write({"number": number, "id": f"{number}.{HOST}", "name": name, "runs": 0, "state": "H", "substate": 20,
                               "user": "eve", "variables": ""})

    def was_asked_for_all(self) -> bool:
        """Whether anybody asked for the jobs of the whole machine."""
        return (self.server.folder / "asked_for_all").exists()

    def forget_ended_jobs(self) -> None:
        """A server without job history."""
        (self.server.folder / "no_history").touch()

    def recall_ended_jobs(self) -> None:
        (self.server.folder / "no_history").unlink()


def obey(server: Server, command: str, arguments: list[str]) -> int:
    """One command of PBS, or `run`, one job's life."""
    if command == "run":
        return run_job(server, int(arguments[0]), arguments[1])
    programs = {"qsub": qsub, "qstat": qstat, "qselect": qselect, "qdel": qdel, "qsig": qsig, "qalter": qalter, "pbsnodes": pbsnodes}
    return programs[command](server, arguments)


if __name__ == "__main__":
    sys.exit(obey(Server(Path(sys.argv[2])), sys.argv[1], sys.argv[3:]))
