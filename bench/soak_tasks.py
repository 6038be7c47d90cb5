"""The task service's part of the soak: requesters, and agents that claim, renew, upload and report results, or vanish.

Everything acknowledged is recorded here and compared with the queue at the end: every task exists and has ended, none was
done twice, a finished one names a file of its index.
"""

import hashlib
import json
import threading
import time

from soak_client import PATIENCE_S, SoakClient
from support.clients import RawUpload
from support.wheels import Wheel, incompressible, sha256_of

SITE, STAGING = "site", "staging"
PYTHON = "3.11"
LEASE_S = 5  # short, so that tasks of vanished agents return within the run
MAX_ATTEMPTS = 10
SETTINGS = f"[tasks]\nlease_s = {LEASE_S}\nmax_attempts = {MAX_ATTEMPTS}"
INDEX_SETTINGS = {SITE: f'staging = "{STAGING}"'}
MAX_OPEN = 30  # per requester: enough work for agents, and a short end
IS_LATE = ("task.lost", "task.cancelled", "auth.index_refused", "auth.project_refused")


class Requester(SoakClient):
    """Keeps its requests: task → package, and which of them it has cancelled."""

    def __init__(self, number, seed, farm, token, end):
        super().__init__(f"asker {number}", seed, farm, token, end)
        self.number, self.made, self.asked, self.cancelled = number, 0, {}, set()

    def act(self):
        open_ones = self.open_ones()
        if len(open_ones) >= MAX_OPEN:
            return time.sleep(0.2)
        choice = self.random.random()
        if open_ones and choice < 0.08:
            self.cancel(self.random.choice(open_ones))
        elif open_ones and choice < 0.25:
            self.ask_again(self.random.choice(open_ones))
        else:
            self.made += 1
            package = f"wish{self.number}x{self.made}"
            self.asked[self.wish(package)] = package
            self.done["wish"] += 1

    def open_ones(self):
        return [task["id"] for state in ("queued", "claimed") for task in self.listed(state) if task["id"] in self.asked]

    def listed(self, state):
        """Reads the whole list, page by page; an empty page is the end."""
        tasks = []
        while page := json.loads(self.get(f"/tasks?index={SITE}&state={state}" + (f"&after={tasks[-1]['id']}" if tasks else "")))["tasks"]:
            tasks += page
        return tasks

    def wish(self, package):
        status, task = self.post("/tasks", {"format": "wheelyard.task/1", "index": SITE, "package": package, "version": "1.0", "python": PYTHON})
        self.must(status == 200, f"wish {package}: {status} {task}")
        return task["id"]

    def ask_again(self, task):
        """An open request returns the same task; it may have ended since."""
        package = self.asked[task]
        again = self.wish(package)
        if again != task:
            state = json.loads(self.get(f"/tasks/{task}"))["state"]
            self.must(state in ("done", "failed", "cancelled"), f"{package} is {task}, which is {state}, and {again}")
            self.asked[again] = package
        self.done["wish again"] += 1

    def cancel(self, task):
        status, reply = self.post(f"/tasks/{task}/cancel", {"format": "wheelyard.change/1", "reason": "soak"})
        if status == 200:
            self.must(reply["state"] == "cancelled", f"cancel {task}: {reply}")
            self.cancelled.add(task)
        else:
            self.must(reply["code"] == "task.ended", f"cancel {task}: {status} {reply}")
        self.done["cancel"] += 1


class Late(Exception):
    pass


class Agent(SoakClient):
    """Keeps what was acknowledged: (index, file name) → [sha256, False], and task → result."""

    def __init__(self, number, seed, farm, token, folder, end, enough):
        super().__init__(f"agent {number}", seed, farm, token, end)
        self.folder, self.enough = folder, enough
        self.site, self.lives = f"site{number}", 0
        self.files, self.maybe, self.ended = {}, {}, {}

    def finish(self):
        """Works without vanishing until nothing is left to do: `enough` is set."""
        while not self.enough.is_set():
            self.act(honest=True)

    def act(self, honest=False):
        tasks = self.ask(room=1)
        if not tasks:
            return time.sleep(0.1)
        self.done["claim"] += 1
        way = "work" if honest else self.random.choices(("work", "vanish", "be late", "fail"), (8, 3, 1, 1))[0]
        try:
            self.work(tasks[0], way)
        except Late:
            self.done["late"] += 1

    def ask(self, *known, room=0):
        """All tasks that this agent has: those that it knows of, and those of an answer that was lost."""
        status, reply = self.post("/tasks/claim", {"format": "wheelyard.claim/2", "index": SITE, "agent": f"{self.site}.host{self.lives}", "pythons": [PYTHON],
                                                  "accelerators": [], "tasks": list(known), "room": room})
        self.must(status == 200, f"claim: {status} {reply}")
        self.must(reply["index"] == STAGING, f"claim: {reply}")
        return reply["tasks"]

    def work(self, task, way):
        steps = self.random.randrange(1, 5)
        leaves_at = self.random.randrange(steps + 2) if way == "vanish" else -1
        for step in range(steps):
            if step == leaves_at:
                return self.vanish()
            if self.random.random() < 0.4:
                if task["id"] not in [one["id"] for one in self.ask(task["id"])]:
                    raise Late
                self.done["renewal"] += 1
        if way == "be late":
            time.sleep(LEASE_S + 1)
        if leaves_at == steps:
            return self.vanish()
        if way == "fail":
            return self.end_task(task, "failed", None)
        wheel = self.upload(task["package"])
        if leaves_at == steps + 1:
            return self.vanish()
        self.end_task(task, "done", wheel)

    def vanish(self):
        self.lives += 1  # on another machine, and without a journal: it knows nothing of what it had
        self.done["vanished"] += 1

    def upload(self, package):
        """Every agent uploads the same bytes: a build is reproducible, so an agent that takes over can repeat it."""
        seed = int(hashlib.sha256(package.encode()).hexdigest()[:8], 16)
        wheel = Wheel(package, "1.0", extra_members={"data": incompressible(1_000 + seed % 300_000, seed)}).write(self.folder)
        promised = [sha256_of(wheel), False]
        self.maybe[STAGING, wheel.name] = promised
        status, problem = self.until_answered(RawUpload(self.farm, self.token, wheel, STAGING).send)
        if status in (403, 409) and problem.get("code") in IS_LATE:
            raise Late
        self.must(status == 200, f"upload of {package} for a task: {status} {problem}")
        self.files[STAGING, wheel.name] = promised
        self.done["task upload"] += 1
        return wheel

    def end_task(self, task, result, wheel):
        outcome = {"format": "wheelyard.outcome/1", "attempt": f"a{self.random.getrandbits(48):012x}", "site": self.site,
                   "cell": f"{task['package']}-1.0-cp311", "result": result}
        if wheel is not None:
            outcome["wheel"] = {"filename": wheel.name, "sha256": sha256_of(wheel), "size": wheel.stat().st_size}
        status, reply = self.post(f"/tasks/{task['id']}/outcome", outcome)
        if status in (403, 409) and reply.get("code") in IS_LATE:
            raise Late
        self.must(status == 200, f"end of {task['id']}: {status} {reply}")
        self.must(reply["state"] == result, f"end of {task['id']}: {reply}")
        self.must(task["id"] not in self.ended, f"{task['id']} was ended twice by one agent")
        self.ended[task["id"]] = result
        self.done[f"end {result}"] += 1


class TaskSoak:
    """Requesters and agents: call start(), then finish() after the restarts."""

    def __init__(self, seed, farm, folder, end, askers=1, agents=3):
        task_token = farm.create_token(SITE, name="asker", actions=("task",))
        build_token = farm.create_token(SITE, name="agent", actions=("build",))
        self.enough = threading.Event()
        self.askers = [Requester(number, seed, farm, task_token, end) for number in range(askers)]
        self.agents = [Agent(number, seed, farm, build_token, folder / f"agent{number}", end, self.enough) for number in range(agents)]
        self.clients = [*self.askers, *self.agents]

    def start(self):
        for client in self.clients:
            client.start()

    def finish(self):
        """Waits until every requested task has ended."""
        for asker in self.askers:
            asker.join()
        last = time.monotonic() + PATIENCE_S
        while any(agent.is_alive() for agent in self.agents) and time.monotonic() < last and self.open_ones():
            time.sleep(0.2)
        self.enough.set()
        for agent in self.agents:
            agent.join()

    def open_ones(self):
        return [task for asker in self.askers if not asker.fault for task in asker.open_ones()]

    def faults_at_the_end(self):
        """Runs while the server is still up."""
        ended = {}
        for agent in self.agents:
            for task, how in agent.ended.items():
                if task in ended:
                    yield f"{task} was ended by two agents"
                ended[task] = how
        files = {key: promised for agent in self.agents for key, promised in agent.files.items()}
        states = {}
        for asker in self.askers:
            for task, package in asker.asked.items():
                reply = json.loads(asker.get(f"/tasks/{task}"))
                state = states[task] = reply["state"]
                if reply["package"] != package:
                    yield f"{task}: asked for {package}, is {reply['package']}"
                if task in asker.cancelled and state != "cancelled":
                    yield f"{task}: cancelled, and is {state}"
                if state not in ("done", "failed", "cancelled"):
                    yield f"{task}: still {state}"
                if task in ended and state != ended[task]:
                    yield f"{task}: ended as {ended[task]}, and is {state}"
                if task not in ended and (state == "done" or (state == "failed" and reply["attempts"] < MAX_ATTEMPTS)):
                    yield f"{task}: {state}, and no agent reported it"
                if state == "done":
                    yield from self.faults_of_done(asker, reply, files)
        print(f"{len(states)} tasks: " + ", ".join(f"{list(states.values()).count(state)} {state}" for state in sorted(set(states.values()))))

    @staticmethod
    def faults_of_done(asker, reply, files):
        wheel = reply["outcome"]["wheel"]
        if files.get((STAGING, wheel["filename"])) != [wheel["sha256"], False]:
            yield f"{reply['id']}: done with {wheel}, which nobody was promised"
        if wheel["filename"] not in asker.farm.files(reply["package"], STAGING):
            yield f"{reply['id']}: done, and {wheel['filename']} is not there"
