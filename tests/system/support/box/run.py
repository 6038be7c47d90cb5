"""One site's box, from the page's first command to the job of a user; a program that site_box_test.py runs in namespaces of its own:

    unshare --mount --net --uts --pid --fork --kill-child python3 -B run.py SITE[@STACK] FOLDER [PLACE=VALUE]…

@today: with the stack of today.toml, taken by the page's own commands. PLACE=VALUE changes a fact (JSON), and so the box:
"partition.0.max_minutes=60". Prints a JSON object: what each phase did, the seconds that it took, and `failed`, the first phase that failed,
with its text. It ends there.

With WHEELYARD_CPU_TORCH=DIR, a root with Debian's python3-torch, jobs of Slurm also train docs/how-to/ddp.py. To make it, inside the
checkout, where the box sees it:

    apt-get install --download-only --no-install-recommends -o Dir::Cache::archives=$PWD python3-torch
    for deb in *.deb; do dpkg -x $deb DIR; done
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
import tomllib
from contextlib import ExitStack
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[2])
from support.box import modules, root
from support.box.cluster import BoxCluster
from support.box.facts import OTHER_USER, BoxFacts, changed, companion_version, read_facts
from support.box.nodes import prepare_nodes
from support.box.pbs import BoxPbs
from support.box.stand_ins import PUBLIC, REPOSITORIES, StandIns
from support.farm import BIN, ROOT, Farm
from support.package_index import PackageIndex
from support.site import PYTHON_VERSION, VENV_PYTHON

# Of what hangs: a busy machine takes several times as long as an idle one.
COMMAND_LIMIT_S = 150
BUILD_LIMIT_S = 600
CLONE = Path("/srv/clone")  # of our repository, for the page's commands


class Failed(Exception):
    pass


class Box:
    def __init__(self, facts: BoxFacts, stack: str = ""):
        self.facts = facts
        self.stack = stack
        self.user = facts.user
        self.work = Path("/var/spool/box")
        (self.work / "registry").mkdir(parents=True)
        self.batch = {"slurm": BoxCluster, "pbs": BoxPbs}[facts.batch_system](self.work / "batch", facts)
        self.batch.folder.mkdir()
        self.stand_ins = StandIns(facts)
        self.cleanup = ExitStack()

    # --- the machine ----------------------------------------------------------------------------------------------------

    def start(self) -> None:
        facts = self.facts
        for number in range(facts.gpus):
            os.mknod(f"/dev/gpu{number}", stat.S_IFCHR | 0o666, os.makedev(1, 3))  # Slurm only asks whether it is a device
        prepare_nodes(facts)
        modules.make_modules(facts)
        subprocess.run([VENV_PYTHON, "-m", "venv", str(modules.TEMPLATE)], check=True)
        subprocess.run([str(modules.TEMPLATE / "bin/python"), "-m", "compileall", "-q", str(modules.TEMPLATE)], check=False)
        for one in facts.facts.get("provided", []):  # libraries of the machine, at Cray's place
            Path(f"/opt/cray/{one['name']}/{one['version']}").mkdir(parents=True)
        for one in facts.facts.get("library", []):
            modules.write_library(Path(one["path"]))
        # A disk of a job is no login node's.
        for mount in facts.mounts:
            if mount.of_a_job and not mount.path.startswith("$") and mount.path != "/tmp":
                Path(mount.path).mkdir(parents=True, exist_ok=True)
        builds, upstream = self.packages()
        self.stand_ins.make(builds, upstream)
        self.index = PackageIndex(self.stand_ins.index)
        self.cleanup.enter_context(self.index)
        self.upstream = PackageIndex(self.stand_ins.upstream)
        self.cleanup.enter_context(self.upstream)
        # The registry allows search paths into the machine's libraries, as docs/how-to/sites/README.md has staff write.
        allowed = json.dumps([str(Path(one["path"]).parent) for one in facts.facts.get("library", [])])
        self.farm = Farm((f"{facts.site}-testing", facts.site), folder=self.work / "registry", index_settings=f"[index.policy]\nrpath_prefixes = {allowed}")
        self.cleanup.enter_context(self.farm)
        self.token = self.farm.create_token(f"{facts.site}-testing", name="agent")
        self.promoter = self.farm.create_token(name="promoter", actions=("promote",))
        self.farm.start()
        self.cleanup.enter_context(self.batch)

    def packages(self) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
        """What the facts want, as builds and as wheels of an upstream (whose index the facts name)."""
        upstream = {}
        for one in self.facts.facts["installed"]:
            name, version = one["requirement"].split("==")
            if one["source"] == "index":
                upstream[name, version.partition("+")[0]] = version
        for one in self.facts.facts.get("required", []):
            name, version = one["requires"].split("==")
            upstream[name, version] = version
        builds, wheels = [], []
        for one in self.facts.facts["want"]:
            name, version = one["package"], one["version"]
            if "with" in one:
                version = companion_version(name, version)
            if (name, version) in upstream:
                wheels.append((name, upstream[name, version]))
            elif name in REPOSITORIES or name not in PUBLIC:
                builds.append((name, version))
        return builds, wheels

    def stop(self) -> None:
        self.cleanup.close()

    # --- people ---------------------------------------------------------------------------------------------------------

    def environment(self, user: str) -> dict[str, str]:
        """Of a login shell; the settings of pip and git replace the public index and GitHub."""
        return {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(root.home(self.facts, user)), "USER": user, "LANG": "C.UTF-8",
                "PIP_INDEX_URL": self.index.url, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "no_proxy": "127.0.0.1",
                "GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "protocol.file.allow", "GIT_CONFIG_VALUE_0": "always",
                "GIT_CONFIG_KEY_1": "safe.directory", "GIT_CONFIG_VALUE_1": "*",
                **self.batch.environment}

    def as_user(self, user: str) -> list[str]:
        number = root.IDS["agent" if user == self.user else user]
        return ["setpriv", f"--reuid={number}", f"--regid={root.GROUP}", "--clear-groups"]

    def shell(self, text: str, user: str = "", cwd: Path = Path("/")) -> subprocess.CompletedProcess:
        user = user or self.user
        return subprocess.run([*self.as_user(user), "/bin/bash", "-c", f"umask 022\n{text}"],
                              env=self.environment(user), cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMMAND_LIMIT_S)

    def must(self, text: str, *phrases: str, user: str = "", cwd: Path = Path("/")) -> str:
        done = self.shell(text, user, cwd)
        said = done.stdout + done.stderr
        if done.returncode != 0:
            raise Failed(f"{text[:400]}\n{said[-6000:]}")
        for phrase in phrases:
            if phrase not in said:
                raise Failed(f"{text[:400]}\nno '{phrase}' in:\n{said[-6000:]}")
        return said

    # --- phases ---------------------------------------------------------------------------------------------------------

    @property
    def site_file(self) -> Path:
        return CLONE / "site-configs" / self.facts.site / "site.toml"

    def clone(self) -> None:
        """The site's files, with what a test cannot have: this machine's Python in place of the site's, addresses of upstreams on loopback."""
        shutil.copytree(ROOT / "site-configs", CLONE / "site-configs")
        for file in self.site_file.parent.glob("*.toml"):
            file.write_text(re.sub(rf'(\[\[python\]\]\nversion = )"{re.escape(self.facts.python)}"', rf'\1"{PYTHON_VERSION}"', file.read_text()))
        pairs = CLONE / "site-configs/common/versions.toml"
        pairs.write_text(re.sub(r'(with = "python", allowed = )"[^"]*"', r'\1">=3"', pairs.read_text()))
        for recipe in (CLONE / "site-configs").rglob("*.toml"):
            text = re.sub(r'(url = ")https://github.com/\w+/', rf"\1file://{root.SERVER}/repositories/", recipe.read_text())
            recipe.write_text(re.sub(r'index = "https://(download.pytorch|wheels.example).org/[^"]*"', f'index = "{self.upstream.url}"', text))
        subprocess.run(["chown", "-R", f"{root.IDS['agent']}:{root.GROUP}", str(CLONE)], check=True)
        for version in {"39", "310", "311", "312"}:
            dotted = f"3.{version[1:]}"
            for machine in ("x86_64", "aarch64"):
                for release in ("24.1.2-0", "24.7.1-0", "25.11.1-1"):
                    path = CLONE / f"Miniconda3-py{version}_{release}-Linux-{machine}.sh"
                    path.write_text(modules.maker_of_prefixes(self.facts, dotted))

    def page_commands(self) -> list[str]:
        """What the site's page has staff type, with this box's words; for a stack its commands, too, whose Python replaces the other."""
        page = (ROOT / "docs/how-to/sites" / f"{self.facts.site}.md").read_text()
        block_of = {title: re.search(rf"^## {title}\n.*?\n\n((?:    [^\n]*\n)+)", page, re.MULTILINE | re.DOTALL)
                    for title in ("Adopt it", "Take today's stack")}
        block = block_of["Adopt it"][1]
        if self.stack:
            python, newer = r"^    (?:conda create|bash Miniconda)(?:.*\\\n)*.*\n", block_of["Take today's stack"][1]
            block = re.sub(python, "", block, flags=re.MULTILINE) if re.search(python, newer, re.MULTILINE) else block
            block = re.sub(r"^    wheelyard-builder", lambda match: newer + match[0], block, count=1, flags=re.MULTILINE)
        words = {"REGISTRY": self.farm.url, "PROJECT": self.facts.project, "BUDGET": self.facts.project, "ACCOUNT": self.facts.account,
                 "USER": self.user}
        text = re.sub(r"\b[A-Z]{4,}\b", lambda match: words.get(match[0], match[0]), re.sub("^    ", "", block, flags=re.MULTILINE))
        return text.replace("\\\n", " ").splitlines()

    def prepare(self) -> None:
        self.clone()
        commands = []
        for line in self.page_commands():
            if line.startswith("wheelyard-builder"):
                break
            token = self.promoter if "promote-token" in line else self.token
            commands.append(re.sub(r"\s#.*", "", line) + (f" <<< {token}" if "/dev/stdin" in line else ""))
        self.must(f". {self.facts.module_init}\nset -e\n" + "\n".join(commands), cwd=CLONE)

    def check(self) -> None:
        self.must(f"wheelyard-builder site check --site {self.site_file}")

    def report(self) -> None:
        text = self.must(f"wheelyard-builder site check --report --site {self.site_file}", "## Machine")
        text += self.must(f"wheelyard-builder site check --report --json --site {self.site_file}", "wheelyard.site-report/1")
        for token in (self.token, self.promoter):
            if token in text:
                raise Failed("the report has a token")

    def plan(self) -> None:
        plan = json.loads(self.must(f"wheelyard-builder plan --json --site {self.site_file}"))
        cells = {(cell["package"], cell["version"].partition("+")[0]) for cell in plan["cells"]}
        builds, upstream = self.packages()
        wanted = {(name, version.partition("+")[0]) for name, version in builds + upstream}
        wanted |= {(one["package"], PUBLIC[one["package"]]) for one in self.facts.facts["want"] if one["package"] in PUBLIC}
        if cells != wanted:
            raise Failed(f"the plan has {sorted(cells)}, the facts want {sorted(wanted)}")

    def build(self) -> None:
        """`run` to its end, or to the first attempt that fails: the agent would try again, and wait."""
        config = self.config
        journal = Path(config["state"]["directory"]) / "attempts"
        with open(self.work / "run.log", "w") as log:
            agent = subprocess.Popen([*self.as_user(self.user), "wheelyard-builder", "run", "--site", str(self.site_file)],
                                     env=self.environment(self.user), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + BUILD_LIMIT_S
        while True:
            ended = agent.poll() is not None or time.monotonic() > deadline
            self.attempts = sorted((json.loads(path.read_text()) for path in journal.glob("w*.json")), key=lambda one: one["id"])
            bad = [one for one in self.attempts if one["state"] == "failed"]
            if bad or ended:
                break
            time.sleep(0.3)  # until the agent or Slurm has done something: nothing announces it
        agent.kill()
        if agent.wait() == 0 and not bad:
            return
        text = (self.work / "run.log").read_text()[-3000:]
        for one in bad[:1]:
            log = Path(config["work"]["directory"], "attempts", one["id"], "log")
            text += f"\n{one['id']}: {json.dumps(one['failure'])[:1500]}\n" + (log.read_text()[-4000:] if log.exists() else "")
        raise Failed(text)

    @property
    def config(self) -> dict:
        config = tomllib.loads(self.site_file.read_text())
        newer = tomllib.loads(self.site_file.with_name("today.toml").read_text()) if self.stack else {}
        return {**config, **newer, "users": {**config["users"], **newer.get("users", {})}}

    def test(self) -> None:
        """Every torch was tested as the facts say that it can be, and promoted after that."""
        kinds = {one["of"] for one in self.facts.facts["job"]} - {"build", "users"}
        torches = {one["version"] for one in self.facts.facts["want"] if one["package"] == "torch"}
        for kind in kinds:
            tested = {one["version"].partition("+")[0] for one in self.attempts
                      if one["purpose"] == kind and one["package"] == "torch" and one["state"] == "done"}
            if tested != torches:
                raise Failed(f"{kind}: {sorted(tested)}, wanted {sorted(torches)}")
        jobs = self.batch.jobs()
        for one in self.attempts:
            if one["purpose"] != "promotion" and one["id"] not in jobs:
                raise Failed(f"{one['id']} ({one['purpose']} of {one['package']}) was no job: {jobs}")

    def promote(self) -> None:
        for one in self.facts.facts["installed"]:
            name, version = one["requirement"].split("==")
            if not any(version in filename for filename in self.farm.files(name, self.facts.site)):
                raise Failed(f"{name} {version} is not in the index {self.facts.site}: {list(self.farm.files(name, self.facts.site))}")

    @property
    def files(self) -> Path:
        return Path(self.config["users"]["directory"] + "-files")

    def install(self) -> None:
        """By another user of the project, where the place is the project's."""
        self.must(f"wheelyard-builder site user-files --site {self.site_file} --to {self.files}", "job.sh")
        mine = any(mount.per_user and str(self.files).startswith(mount.path + "/") for mount in self.facts.mounts)
        folder = self.files.parent
        if not mine:
            folder.chmod(0o2775)
        self.must(f"{self.files}/install-environment", "is ready", user=self.user if mine else OTHER_USER)
        printed = self.must(f"{self.config['users']['directory']}/bin/python -m pip list --format=freeze", user=OTHER_USER)
        for one in self.facts.facts["installed"]:
            if one["requirement"].lower() not in printed.lower():
                raise Failed(f"no {one['requirement']} in:\n{printed}")

    def user_job(self) -> None:
        """A job of another user with the files for users: its ranks add numbers."""
        place = root.home(self.facts, OTHER_USER)
        shared = next(mount.path for mount in self.facts.mounts if mount.on_nodes and not mount.purged_days and self.facts.project in mount.path
                      and not mount.per_user) if not any(mount.per_user for mount in self.facts.mounts if not mount.purged_days) else str(place)
        out = f"{shared}/job-{os.urandom(3).hex()}.out"
        if (self.files / "pack-environment").exists():
            self.must(f"{self.files}/pack-environment", "environment.tar")
        done = self.shell(f"cd {shared} && {self.batch.submission(out)} {self.files}/job.sh", user=OTHER_USER)
        log = Path(out).read_text() if Path(out).exists() else ""
        if done.returncode != 0 or not re.search(r"\d+ ranks, torch ", log):
            raise Failed(done.stdout + done.stderr + log)
        self.ranks = re.search(r"\d+ ranks, .*", log)[0]
        if self.ranks.endswith(" 1 cores each") and os.cpu_count() > 1:
            raise Failed(f"its ranks are bound to one core each: {self.ranks}")

    def train(self, torch: str) -> list[str]:
        """docs/how-to/ddp.py by a copy of job.sh, with a real torch in place of the stand-in and a rank on each node; a second job resumes."""
        folder = Path(self.facts.place(next(mount.path for mount in self.facts.mounts if mount.on_nodes and not mount.purged_days))) / "ddp"
        folder.mkdir()
        folder.chmod(0o777)
        libraries = f"{torch}/usr/lib/{os.uname().machine}-linux-gnu:{torch}/usr/lib"
        real = f"export PYTHONPATH={torch}/usr/lib/python3/dist-packages LD_LIBRARY_PATH={libraries}:$LD_LIBRARY_PATH OMP_NUM_THREADS=1\n"
        text = re.sub(r"^srun .*run-rank", lambda match: real + match[0], (self.files / "job.sh").read_text(), flags=re.MULTILINE)
        (folder / "job.sh").write_text(re.sub(r"-n\d+ --ntasks-per-node=\d+", "-n2 --ntasks-per-node=1", text))
        lines = []
        for epochs, phrase in ((2, "epoch 1: loss "), (3, "rank 0 resumes after epoch 1")):
            done = self.shell(f"cd {folder} && {self.batch.submission(f'{folder}/{epochs}.out')} job.sh {ROOT}/docs/how-to/ddp.py {epochs} 1", user=OTHER_USER)
            log = (folder / f"{epochs}.out").read_text() if (folder / f"{epochs}.out").exists() else ""
            if done.returncode != 0 or phrase not in log or ", 2 ranks, gloo" not in log:
                raise Failed(done.stdout + done.stderr + log)
            lines += re.findall("^(?:epoch|rank) .*", log, re.MULTILINE)
        return lines

    def purge(self) -> None:
        """Old files go; the state, the users' environment and what has to last do not lie there."""
        for one in self.attempts:
            if one["state"] not in ("done", "failed"):
                raise Failed(f"{one['id']} is {one['state']}")
        self.purged = root.purge(self.facts)
        printed = self.must(f"wheelyard-builder run --site {self.site_file}")
        if "failed" in printed.lower():
            raise Failed(printed)
        self.user_job()

    def limits(self) -> None:
        """The batch system itself refuses what the facts forbid, and takes what they allow."""
        number, project = root.IDS["agent"], self.facts.account
        partitions = [(one["name"], {"partition": one["name"]}, one) for one in self.facts.partitions]
        qualities = [(one["name"], {"qos": one["name"]}, one) for one in self.facts.facts.get("qos", [])]
        for name, where, one in qualities or partitions:
            for what, bound in (("minutes", one["max_minutes"]), ("nodes", one["max_nodes"])):
                inside = {what: min(bound, 2) if what == "nodes" else bound}
                if why := self.batch.refuses(number, project, **where, **inside):
                    raise Failed(f"{name} refuses {inside}: {why}")
                if not self.batch.refuses(number, project, **where, **{what: bound + 1}):
                    raise Failed(f"{name} takes {what}={bound + 1}")
        if not self.batch.refuses(number, "other"):
            raise Failed("an account without users may submit")


PHASES = ("limits", "prepare", "check", "report", "plan", "build", "test", "promote", "install", "user_job", "purge")


def main() -> int:
    site, folder, *mutations = sys.argv[1:]
    site, _, stack = site.partition("@")
    facts = read_facts(site, stack)
    for mutation in mutations:
        place, _, value = mutation.partition("=")
        facts = changed(facts, place, json.loads(value))
    box_facts = BoxFacts(facts)
    root.make_root(Path(folder))
    root.enter(Path(folder))
    root.make_users(box_facts)
    root.make_places(box_facts)
    result = {"site": site, "stack": stack, "phases": {}, "failed": None}
    box = Box(box_facts, stack)
    try:
        for phase in ("start", *PHASES):
            begun = time.monotonic()
            try:
                getattr(box, phase)()
            except Failed as failure:
                result["failed"], result["text"] = phase, str(failure)
                break
            finally:
                result["phases"][phase] = round(time.monotonic() - begun, 1)
        else:
            if torch := os.environ.get("WHEELYARD_CPU_TORCH"):
                result["trained"] = box.train(torch)
            result |= {"ranks": box.ranks, "purged": box.purged,
                       "attempts": sorted(f"{one['purpose']} {one['package']}" for one in box.attempts)}
    finally:
        box.stop()
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
