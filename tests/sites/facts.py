"""Scripts, jobs, environments and files for users against what the sites' documents and guides say.

    facts.py                check every site
    facts.py --mutate       change each fact and each line that a fact covers, one at a time: the check must notice

facts/SITE.toml holds the facts, each with its source: document, place in it, how it was verified; nothing in it comes from our code. The check reads site-configs/SITE,
tests/golden/builder/sites/SITE* (scripts, headers of jobs, hardware tests) and tests/golden/builder/users/SITE, and compares
in both directions: a fact that no file follows is a problem, and so is a module, variable, flag, partition, path or version without a
fact.
"""

import argparse
import copy
import functools
import re
import shlex
import sys
import tomllib
from pathlib import Path

import golden

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SITES = ["alliance", "archer2", "bede-gh200", "derecho", "frontier", "aurora", "lumi", "isambard-ai", "perlmutter", "setonix", "jupiter",
         "marenostrum5", "deucalion", "polaris", "dardel"]

# How a fact was verified: its document was read, it was measured here, the site's own document (given to us) says so, or only the machine
# can show it.
VERIFIED = ("read", "measured", "document", "machine")

# Exported by our scripts; no document can name them.
OURS = {"PYTORCH_BUILD_VERSION", "PYTORCH_BUILD_NUMBER", "BUILD_TEST", "BUILD_VERSION", "PYTORCH_VERSION", "MPI4PY_LOCAL_VERSION",
        "MAX_JOBS", "CMAKE_BUILD_PARALLEL_LEVEL", "PATH", "PIP_DISABLE_PIP_VERSION_CHECK", "SOURCE_DATE_EPOCH", "PYTHONHASHSEED"}
OUR_USER_VARIABLES = {"WHEELYARD_ENVIRONMENT", "WHEELYARD_INDEX_URL", "PIP_EXTRA_INDEX_URL"}
# Options of every job of the agent, whatever the site.
OUR_OPTIONS = re.compile(r"--(job-name|output|open-mode|chdir|no-requeue|ntasks|ntasks-per-node|cpus-per-task|signal|account|export)\b.*"
                         r"|-(N|j|o|r|A) .*|-l place scatter")
# What an inline assignment of a test may set without a fact: torch's own rendezvous.
RENDEZVOUS = {"RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "LD_LIBRARY_PATH"}

# Variables that no module sets: of Conda, Slurm and the loader.
NOT_OF_MODULES = {"CONDA_PREFIX", "SLURM_TMPDIR", "LD_LIBRARY_PATH", "build"}


class Artefacts:
    """The files of one site, as texts; mutations change the texts."""

    def __init__(self, site):
        self.site = site
        folder = ROOT / "site-configs"
        self.config = (folder / site / "site.toml").read_text()
        self.recipes = {path.name: path.read_text() for path in sorted((folder / site / "recipes").glob("*.toml"))}
        self.scripts, self.jobs = {}, {}
        for name, text in golden.of_site("sites", site).items():
            self.jobs[name], self.scripts[name] = golden.job_and_script(text)
        self.tests = golden.of_site("sites/tests", site)
        parts = re.split(r"^==> (\S+)(?: \(program\))? <==\n", golden.read(f"builder/users/{site}"), flags=re.MULTILINE)
        self.users = dict(zip(parts[1::2], parts[2::2]))
        self.page = (ROOT / "docs" / "how-to" / "sites" / f"{site}.md").read_text()


# Mutations change one fact or one file each: the texts of the others are parsed once.
@functools.cache
def parsed_words(text):
    return tuple(shlex.split(text.replace("\\\n", " "), comments=True))


def words(text):
    return list(parsed_words(text))


parsed_toml = functools.cache(tomllib.loads)  # nobody changes what it returns


def phase_of(script, name):
    match = re.search(rf"^begin {name}\n(.*?)(?=^begin |\Z)", script, re.MULTILINE | re.DOTALL)
    return match[1] if match else ""


def modules_of(script):
    match = re.search(r"^module load (.*)$", script, re.MULTILINE)
    return words(match[1]) if match else []


def exports_of(script):
    found = {}
    for match in re.finditer(r"^export (\w+)=(.*)$", script.split("\nbegin venv")[0], re.MULTILINE):
        if match[1] not in OURS:
            found[match[1]] = "".join(words(match[2]))
    return found


def commands_of(script):
    """The words of the site's own steps: flags, programs and assignments, each once."""
    text = phase_of(script, "before") + phase_of(script, "configure")
    text = re.sub(r"^(if|fi|cd|then)\b.*$|^\s*cd .*$|^: > .*$", "", text, flags=re.MULTILINE)  # the last: tree_ready
    return [word for word in dict.fromkeys(words(text.replace("(cd ", "(").replace("(", " ").replace(")", " ").replace("&&", " ")))
            if word not in ("test", "!", "-e", "||") and not word.startswith("$build/")]


def directives(header):
    found = {}
    for line in re.findall(r"^#(?:SBATCH|PBS) (.*)$", header, re.MULTILINE):
        if line.startswith("-l select="):
            for part in line.removeprefix("-l select=").split(":"):
                name, _, value = part.rpartition("=")
                found["ncpus" if name == "ncpus" else name or "nodes"] = value
        else:
            name, _, value = line.partition("=" if line.startswith("--") or line.startswith("-l ") else " ")
            found[name] = value
    return found


def overridden(header):
    """Options that a later line gives again: Slurm takes the last."""
    given = re.findall(r"^#SBATCH (--[\w-]+)=(.*)$", header, re.MULTILINE)
    last = dict(given)
    return [f"{name}={value}" for name, value in given if value != last[name]]


def minutes_of(text):
    parts = [int(part) for part in text.split(":")]
    return parts[0] if len(parts) == 1 else parts[0] * 60 + parts[1]


def job_of(header):
    """A job's requests in one form for Slurm and PBS."""
    given = directives(header)
    gpus = given.get("--gres", "gpu:0").removeprefix("gpu:") if "--nodes" in given else given.get("ngpus", "0")
    memory = given.get("--mem", given.get("mem", "0"))
    known = {"--partition", "-q", "--time", "-l walltime", "--nodes", "nodes", "--gres", "ngpus", "--mem", "mem", "ncpus", "mpiprocs"}
    options = [name + ("=" + value if value else "") for name, value in given.items()
               if name not in known and not OUR_OPTIONS.fullmatch(f"{name} {value}".strip()) and not OUR_OPTIONS.fullmatch(name)]
    return {"partition": given.get("--partition", given.get("-q", "")),
            "minutes": minutes_of(given.get("--time", given.get("-l walltime", "0"))),
            "nodes": int(given.get("--nodes", given.get("nodes", "1"))), "gpus": int(gpus), "options": options,
            "memory_mib": int(re.sub(r"\D", "", memory) or 0),
            "cores": int(given.get("--cpus-per-task", given.get("ncpus", "1"))), "tasks": int(given.get("--ntasks-per-node", "1")),
            "overridden": overridden(header), "asked": {"memory": "--mem" in given or "mem" in given, "cores": "--cpus-per-task" in given or "ncpus" in given}}


class Check:
    def __init__(self, facts, artefacts):
        self.facts, self.files, self.problems = facts, artefacts, []
        self.config = parsed_toml(artefacts.config)

    def problem(self, text):
        self.problems.append(f"{self.files.site}: {text}")

    def same(self, what, fact, ours):
        """Two sets of things, in both directions."""
        for one in fact:
            if one not in ours:
                self.problem(f"{what}: a fact, but not ours: {one}")
        for one in ours:
            if one not in fact:
                self.problem(f"{what}: ours, but no fact: {one}")
        if sorted(map(str, fact)) != sorted(map(str, ours)) and set(fact) == set(ours):
            self.problem(f"{what}: {list(ours)}, the fact is {list(fact)}")

    def run(self):
        for table in [one for value in self.facts.values() if isinstance(value, list) for one in value]:
            if table.get("source") not in self.facts["sources"]:
                self.problem(f"a fact without a source: {table}")
        self.sources()
        for check in (self.jobs, self.nodes, self.modules, self.provided, self.variables, self.steps, self.launchers, self.paths, self.versions,
                      self.machine, self.promises, self.users, self.required):
            check()
        return self.problems

    def sources(self):
        """Each source names its document, the place in it, and how its facts were verified; and a fact has it."""
        used = {table.get("source") for value in self.facts.values() if isinstance(value, list) for table in value}
        for name, source in self.facts["sources"].items():
            for key in ("document", "place"):
                if not source.get(key, "").strip():
                    self.problem(f"source {name} has no {key}")
            if source.get("verified") not in VERIFIED:
                self.problem(f"source {name}: verified = {source.get('verified')!r}, expected one of {', '.join(VERIFIED)}")
            if (source.get("document") == "none") > (source.get("verified") == "machine"):
                self.problem(f"source {name} has no document, so only the machine can show it")
            if name not in used:
                self.problem(f"no fact has the source {name}")

    def all_jobs(self):
        for name, header in self.files.jobs.items():
            yield "build", name, job_of(header)
        for name, text in self.files.tests.items():
            yield name.rsplit(".", 1)[1], name, job_of(text)
        yield "users", "job.sh", job_of(self.files.users["job.sh"])

    def jobs(self):
        limits = {one["name"]: one for one in self.facts["partition"]}
        wanted = {one["of"]: one for one in self.facts["job"]}
        defaults = {one["partition"]: one.get("memory_per_core_mib", 0) for one in self.facts.get("node", [])}
        qualities = {f"--qos={one['name']}": one for one in self.facts.get("qos", [])}
        used = set()
        for kind, name, job in self.all_jobs():
            if kind not in wanted:
                self.problem(f"{name}: no fact on {kind} jobs")
                continue
            fact = wanted[kind]
            self.same(f"{name}: partition", [fact["partition"]], [job["partition"]])
            self.same(f"{name}: options", fact.get("options", []), job["options"])
            self.same(f"{name}: overridden options", fact.get("overridden", []), job["overridden"])
            self.same(f"{name}: GPUs per node", [fact["gpus"]], [job["gpus"]])
            self.same(f"{name}: nodes", [fact["nodes"]], [job["nodes"]])
            limit = limits.get(job["partition"])
            if limit is None:
                self.problem(f"{name}: partition {job['partition']} has no fact")
                continue
            used |= {job["partition"], kind}
            self.size(name, job, fact, limit, defaults.get(job["partition"], 0))
            self.filtered(name, job)
            for option in job["options"]:
                if quality := qualities.get(option):
                    used.add(option)
                    for what in ("minutes", "nodes"):
                        if job[what] > quality[f"max_{what}"]:
                            self.problem(f"{name}: {what} = {job[what]}, {option} has at most {quality[f'max_{what}']}")
            for what in ("minutes", "memory_mib", "cores", "nodes"):
                if job[what] > limit[f"max_{what}"]:
                    self.problem(f"{name}: {what} = {job[what]}, {job['partition']} has at most {limit[f'max_{what}']}")
        if wanted.get("users", {}).get("partition") in limits:
            self.exclusive(limits[wanted["users"]["partition"]])
        for name in [*limits, *wanted, *qualities]:
            if name not in used:
                self.problem(f"no job follows the fact on {name}")
        scheduler = self.config["scheduler"]
        build = limits.get(wanted.get("build", {}).get("partition"))
        if build:
            self.same("scheduler.max_walltime_minutes", [build["max_minutes"]], [scheduler["max_walltime_minutes"]])
            if scheduler.get("max_memory_mib", 0) > build["max_memory_mib"]:
                self.problem(f"scheduler.max_memory_mib = {scheduler['max_memory_mib']}, more than {build['max_memory_mib']}")

    def size(self, name, job, fact, partition, memory_per_core_mib):
        """A job that pays for a whole node uses it; another one says how much memory it needs, where the default is little."""
        if partition.get("exclusive"):
            self.same(f"{name}: memory of a whole node", [0], [job["memory_mib"]])
            if fact["of"] == "build":
                self.same(f"{name}: cores of a whole node", [partition["max_cores"]], [job["cores"]])
        elif not job["memory_mib"] and (memory_per_core_mib or fact["of"] != "users") and not self.unasked_memory():
            self.problem(f"{name}: asks for no memory, and gets {memory_per_core_mib or 'the default'} MiB for each core")
        for what in ("cores", "memory_mib"):
            if what in fact:
                self.same(f"{name}: {what}", [fact[what]], [job[what]])

    def unasked_memory(self):
        return any("memory" in one.get("not_asked", []) for one in self.facts.get("node", []))

    def filtered(self, name, job):
        """What the site's filter refuses: a job that asks for what comes by itself, or for fewer cores than come with its GPUs."""
        [node, *_] = self.facts.get("node", [{}])
        for what in node.get("not_asked", []):
            if job["asked"].get(what):
                self.problem(f"{name}: asks for {what}, and the site's filter refuses it")
        least = node.get("cores_per_gpu", 0) * job["gpus"]
        if least and "cores" not in node.get("not_asked", []) and job["tasks"] * job["cores"] < least:
            self.problem(f"{name}: {job['tasks'] * job['cores']} cores of a node, {least} come with its GPUs")

    def exclusive(self, partition):
        """Only where a job has its nodes for itself may its launcher use more cores than the job asks for."""
        text = self.files.users["job.sh"]
        header = directives(text)
        tasks = int(header.get("--ntasks-per-node", 1))
        cores = re.search(r"(?:--cpus-per-task=|\s-c)(\d+)\b", text.split("unset SLURM_EXPORT_ENV")[-1])
        needs = bool(cores) and tasks * int(cores[1]) > tasks * int(header.get("--cpus-per-task", 1))
        if needs != partition.get("exclusive", False):
            self.problem(f"job.sh {'uses more cores than it asks for' if needs else 'asks for all cores that it uses'}, and "
                         f"{partition['name']} {'does not give' if needs else 'gives'} whole nodes")

    def nodes(self):
        exclusive = {one["name"]: one.get("exclusive", False) for one in self.facts["partition"]}
        ours_by_queue = {one.get("queue", ""): one for one in self.config.get("node", [])}
        for one in self.facts["partition"]:
            if ours_by_queue and (self.unasked_memory() or one.get("exclusive")):
                node = ours_by_queue.get(one["name"], next(iter(ours_by_queue.values())))
                self.same(f"{one['name']}: memory of a whole node", [one["max_memory_mib"]], [node["memory_mib"]])
        ours = {(one.get("queue", ""), one.get("cores", 0), one.get("memory_mib", 0), one.get("gpus", 0), one.get("exclusive", False),
                 one.get("memory_per_core_mib", 0), *one.get("not_asked", [])) for one in self.config.get("node", [])}
        facts = {(one["partition"], one["cores"], one["memory_mib"], one["gpus"], exclusive.get(one["partition"]),
                  one.get("memory_per_core_mib", 0), *one.get("not_asked", [])) for one in self.facts.get("node", [])}
        self.same("[[node]]", facts, ours)
        for one in self.facts.get("node", []):
            if "cores_per_gpu" in one:
                scheduler = self.config["scheduler"]
                self.same("cores of each GPU", [one["cores_per_gpu"]], [scheduler["cores"] // scheduler["gpus"]])

    def modules(self):
        seen = set()
        for fact in self.facts["modules"]:
            for script in fact["scripts"]:
                seen.add(script)
                if script == "users":
                    loaded = re.findall(r'depends_on\("([^"]+)"\)', self.lua())
                    loaded = [module for module in loaded if module not in fact.get("not_for_users", [])]
                else:
                    text = self.files.scripts.get(script) or self.files.tests.get(script, "")
                    loaded = modules_of(text)
                if loaded != fact["load"]:
                    self.problem(f"{script}: modules {loaded}, the fact is {fact['load']}")
        self.same("scripts with modules", seen, {*self.files.scripts, *self.files.tests, "users"})

    def provided(self):
        """What the site's modules bring: each program and variable that scripts use, and nothing else."""
        provides = self.facts.get("provides", [])
        self.same("[modules] environment", [one["within"] for one in provides if "within" in one], list(self.config["modules"].get("environment", {})))
        self.same("modules.init", [one["path"] for one in self.facts["init"]], [self.config["modules"].get("init", "")])
        loaded = {module for one in self.facts["modules"] for module in one["load"]}
        texts = "\n".join([self.files.config, *self.files.recipes.values()])
        for one in provides:
            if one["module"] not in loaded:
                self.problem(f"no script loads {one['module']}")
            for place in [one["home"], *(f"{one['home']}/{folder}" for folder in one.get("folders", []))] if "home" in one else []:
                if not re.search(rf"{re.escape(place)}(?![\w.-])", texts):
                    self.problem(f"nothing of ours uses {place}, a folder of {one['module']}")
        used_folders = set(re.findall(rf"({'|'.join(re.escape(one['home']) for one in provides if 'home' in one) or 'none'})/(hip|rccl)\b", texts))
        self.same("folders of modules", {(one["home"], folder) for one in provides for folder in one.get("folders", [])}, used_folders)
        compilers = [words(one)[0] for one in self.config.get("compilers", {}).values()]
        launcher = words(self.config.get("mpi", {}).get("launcher", "srun"))[0]
        steps = [word.split("=")[1] for text in self.files.scripts.values() for word in commands_of(text) if re.match("(CC|CXX)=", word)]
        python = [f"python{one['version']}" for one in self.config["python"] if one.get("source") == "module" or "python_modules" in self.config["users"]]
        python += ["conda" for one in self.config["python"] if "conda_environment" in one]
        self.same("programs of modules", {program for one in provides for program in one.get("programs", [])},
                  {*compilers, launcher, *steps, *python} - {"srun"})
        linked = set()
        for text in self.files.scripts.values():
            given = exports_of(text).get("LDFLAGS", "").split()
            folders = [word[2:] for word in given if word.startswith("-L")]
            linked |= {f"{folder}/lib{word[2:]}.so" for word in given if word.startswith("-l") for folder in folders}
        self.same("libraries of the machine", {one["path"] for one in self.facts.get("library", [])}, linked)
        used = set()
        for name, text in self.files.scripts.items():
            given = exports_of(text)
            set_here = {variable for one in provides if one["module"] in modules_of(text) for variable in one.get("sets", [])}
            for value in [*given.values(), *commands_of(text)]:
                for variable in set(re.findall(r"\$\{?(\w+)", value)) - set(given) - NOT_OF_MODULES:
                    used.add(variable)
                    if variable not in set_here:
                        self.problem(f"{name}: {variable} is used, and no module of it sets it")
        self.same("variables of modules", {variable for one in provides for variable in one.get("sets", [])}, used)

    def lua(self):
        return next(text for path, text in self.files.users.items() if path.endswith(".lua"))

    def variables(self):
        facts = {}
        for fact in self.facts["variables"]:
            for script in fact["scripts"]:
                facts.setdefault(script, {}).update(fact["values"])
        ours = {name: exports_of(text) for name, text in {**self.files.scripts, **self.files.tests}.items()}
        ours["users"] = {name: value for name, value in re.findall(r'^setenv\("(\w+)", "(.*)"\)$', self.lua(), re.MULTILINE)
                         if name not in OUR_USER_VARIABLES}
        for name, text in self.files.tests.items():
            command = text.rsplit("\nbegin test\n", 1)[1]
            for variable, value in re.findall(r"\b([A-Z][A-Z0-9_]+)=(\S+)", command):
                if variable not in RENDEZVOUS:
                    ours[name][variable] = value
        job = self.files.users["job-environment.sh"]
        ours["job-environment"] = {name: "".join(words(value)) for name, value in
                                   re.findall(r'^test -n "\$\w+" \|\| (\w+)=(.*)$', job, re.MULTILINE)}
        ours["job-environment"] |= dict(re.findall(r"^export (\w+)=(\$WHEELYARD_JOB_FOLDER\S*)$", job, re.MULTILINE))
        ours["job-environment"] |= dict(re.findall(r"^    (MASTER_ADDR)=(\$\(hostname [^)]*\))", job, re.MULTILINE))
        ours["job-environment"] |= dict(re.findall(r"^export (MASTER_PORT)=\$\{MASTER_PORT:-(\d+)\}", job, re.MULTILINE))
        for script in sorted({*facts, *ours}):
            pairs = [sorted(f"{name}={value}" for name, value in side.get(script, {}).items()) for side in (facts, ours)]
            self.same(f"{script}: variables", *pairs)

    def steps(self):
        facts = {script: fact["words"] for fact in self.facts.get("steps", []) for script in fact["scripts"]}
        ours = {name: commands_of(text) for name, text in self.files.scripts.items()}
        for script in sorted({*facts, *(name for name, given in ours.items() if given)}):
            self.same(f"{script}: steps", facts.get(script, []), ours.get(script, []))

    def launchers(self):
        facts = {fact["of"]: fact["words"] for fact in self.facts["launcher"]}
        texts = {name: text.rsplit("\nbegin test\n", 1)[1] for name, text in self.files.tests.items() if name.endswith("multi-node-test")}
        texts["users"] = self.files.users["job.sh"]
        for script in self.files.scripts:
            if script.endswith("mpi4py"):
                texts[script] = phase_of(self.files.scripts[script], "smoke")
        for name in sorted({*facts, *texts}):
            match = re.search(r"(?:^|\s)((?:srun|mpiexec|mpirun)\b.*?)\s(?:\S*/run-rank|bash -c|python)\b", texts.get(name, ""))
            self.same(f"{name}: launcher", facts.get(name, []), words(match[1]) if match else [])

    def mount_of(self, path):
        best = None
        for mount in self.facts["mount"]:
            pattern = re.escape(mount["path"]).replace(r"\{user\}", re.escape(self.facts["user"])).replace(
                r"\{project\}", re.escape(self.facts["project"]))
            if re.match(pattern + r"(/|$)", path) and (best is None or len(mount["path"]) > len(best["path"])):
                best = mount
        return best

    def paths(self):
        """Each path of ours lies on a file system that keeps it, and that the nodes mount if they use it."""
        config, used = self.config, set()
        kept = [config["state"]["directory"], config["users"]["directory"], *config["users"].get("library_path", [])]
        kept += [one[key] for one in config["python"] for key in ("conda", "conda_environment") if key in one]
        kept += [value for table in (config, config["modules"]) for value in table.get("environment", {}).values() if value.startswith("/")]
        login = [config["registry"]["token_file"], config["registry"]["promote_token_file"]]
        temporary = [config["work"]["directory"]]
        local = [config["work"].get("temporary", ""), config["users"].get("node_local", "")]
        system = config["modules"].get("init", ""), *config["allowed"]["search_path_prefixes"]
        system += tuple(re.findall(r"(?<![\w}$/.])/(?:opt|usr|sw)/[\w./-]*\w", "\n".join(self.files.recipes.values())))
        for path in [*kept, *login, *temporary, *local, *system]:
            if not path:
                continue
            mount = self.mount_of(path)
            if mount is None:
                self.problem(f"{path}: no fact on where it lies")
                continue
            used.add(mount["path"])
            if path not in login and not mount["on_nodes"]:
                self.problem(f"{path}: nodes do not mount {mount['path']}")
            if path not in temporary and mount["purged_days"]:
                self.problem(f"{path}: purged after {mount['purged_days']} days")
            if path in temporary and mount["purged_days"] and "purge" not in self.files.page:
                self.problem(f"{path}: purged after {mount['purged_days']} days, and the site's page does not say so")
            if (path in local) != mount.get("of_a_job", False):
                self.problem(f"{path}: {mount['path']} is {'' if mount.get('of_a_job') else 'not '}a disk of one job")
        for mount in self.facts["mount"]:
            if mount["path"] not in used and mount["on_nodes"] and not mount["purged_days"]:
                self.problem(f"nothing lies on {mount['path']}")

    def versions(self):
        wants = {(want["package"], version, accelerator) for want in self.config["want"] for version in want.get("versions", ["latest"])
                 for accelerator in want.get("accelerators", [""])}
        wants |= {(package, "with " + want["package"], version) for want in self.config["want"] for package in want.get("follow_ups", [])
                  for version in want["versions"]}
        facts = {(one["package"], one["version"], one.get("accelerator", "")) for one in self.facts["want"] if "with" not in one}
        facts |= {(one["package"], "with " + one["with"], one["version"]) for one in self.facts["want"] if "with" in one}
        self.same("wants", facts, wants)
        self.same("requirements of users", [one["requirement"] for one in self.facts["installed"]], self.config["users"]["requirements"])
        beside = {(name, tag) for text in self.files.recipes.values()
                  for name, tag in ((one["name"], one["tag"]) for one in parsed_toml(text).get("beside", []))}
        self.same("repositories beside", {(one["name"], one["tag"]) for one in self.facts.get("beside", [])}, beside)
        self.same("[versions]", {(one["name"], one["version"]) for one in self.facts.get("provided", [])},
                  set(self.config.get("versions", {}).items()))

    def machine(self):
        ours = {("python", one["version"], one.get("source", "venv")) for one in self.config["python"]}
        ours |= {(one.get("kind", "cpu"), architecture) for one in self.config.get("accelerator", [])
                 for architecture in one.get("architectures", ["cpu"])}
        ours |= {("batch system", self.config["scheduler"]["kind"])}
        ours |= {("offline jobs", str(self.config.get("network", {}).get("offline_jobs", False)))}
        ours |= set(self.config.get("network", {}).get("proxies", {}).items())
        created = re.search(r"^    conda create ((?:.*\\\n)*.*)$", self.files.page, re.MULTILINE)
        packages = re.sub(r"-[pc] \S+|-y|python=\S+|\\\n", " ", created[1]).split() if created else []
        ours |= {("conda package", one) for one in packages}
        facts = {tuple(one["is"]) for one in self.facts["machine"]}
        self.same("machine", facts, ours)


    def users(self):
        """What users are told and given beside wheels and variables."""
        config, job = self.config["users"], self.files.users["job.sh"]
        self.same("packages of users", [one["requirement"] for one in self.facts.get("supporting", [])], config.get("packages", []))
        self.same("choices of users", [tuple(one["is"]) for one in self.facts.get("choice", [])], re.findall(r"^# export (\w+)=(\S+)", job, re.MULTILINE))
        self.same("options of LibTorch", [one["option"] for one in self.facts.get("libtorch", [])], config.get("libtorch_options", []))
        self.same("harmless messages", [one["says"] for one in self.facts.get("harmless", [])], re.findall(r"^# Harmless: (.*?\[[^]]*\].*?\[)", job, re.MULTILINE))

    def required(self):
        """What an upstream's wheel requires and only its index has is a companion of it, in the version that it requires."""
        pairs = parsed_toml((ROOT / "site-configs/common/versions.toml").read_text())["pair"]
        for one in self.facts.get("required", []):
            name, _, version = one["requires"].partition("==")
            of_torch = one["package"], one["version"]
            if not any(pair["package"] == name and pair["with"] == of_torch[0] and pair["versions"] == f"=={version}"
                       and of_torch[1].startswith(pair["allowed"].removeprefix("==").rstrip("*")) for pair in pairs):
                self.problem(f"no version pair: {of_torch} requires {one['requires']}")
            if not any((want["package"], want.get("with"), want["version"]) == (name, *of_torch) for want in self.facts["want"]):
                self.problem(f"no fact wants {name} with {of_torch}")

    def promises(self):
        """What the tests of a torch demand is what the site's documents build it with."""
        facts = {script: one["has"] for one in self.facts.get("promise", []) for script in one["of"]}
        ours = {}
        for name, text in self.files.scripts.items():
            promised = re.search(r'for one in "(.*)"\.split\(\)', phase_of(text, "smoke"))
            if promised:
                ours[name] = promised[1].split()
            gpu_test = self.files.tests.get(f"{name}.gpu-test")
            asked = re.search(r'if "MAGMA" in "(.*)"\.split\(\)', gpu_test) if gpu_test else None
            if asked and asked[1].split() != ours.get(name):
                self.problem(f"{name}: its test on a GPU has other promises")
        for name in sorted({*facts, *ours}):
            self.same(f"{name}: promises", facts.get(name, []), ours.get(name, []))


def read_facts(site):
    return tomllib.loads((HERE / "facts" / f"{site}.toml").read_text())


def check(site, facts=None, artefacts=None):
    return Check(facts or read_facts(site), artefacts or Artefacts(site)).run()


def other(value):
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return 0 if value else 1
    return value + "x"


def fact_mutations(facts):
    """Every fact with one value changed, or one value of a list left out: (what, mutated facts)."""
    for kind, tables in facts.items():
        if not isinstance(tables, list):
            continue
        for number, table in enumerate(tables):
            # place_mutations shows that these facts are followed: nothing of ours may lie there.
            forbidden = kind == "mount" and (table["purged_days"] or not table["on_nodes"])
            for key, value in table.items():
                if key in ("source", "scripts") or forbidden:
                    continue
                place = f"{kind} {number + 1} {key}"
                changes = []
                if isinstance(value, list):
                    changes += [(f"{place}: without {one}", value[:i] + value[i + 1:]) for i, one in enumerate(value)]
                    changes += [(f"{place}: another {one}", value[:i] + [other(one)] + value[i + 1:]) for i, one in enumerate(value)]
                elif isinstance(value, dict):
                    changes += [(f"{place}: without {name}", {k: v for k, v in value.items() if k != name}) for name in value]
                    changes += [(f"{place}: another {name}", {**value, name: other(value[name])}) for name in value]
                else:
                    changes.append((f"{place}: not {value}", other(value)))
                for what, changed in changes:
                    mutated = copy.deepcopy(facts)
                    mutated[kind][number][key] = changed
                    yield what, mutated
            mutated = copy.deepcopy(facts)
            del mutated[kind][number]["source"]
            yield f"{kind} {number + 1}: without its source", mutated


def source_mutations(facts):
    """Every source without one of its keys, with another way of verification, or without its facts."""
    for name, source in facts["sources"].items():
        for key in source:
            mutated = copy.deepcopy(facts)
            del mutated["sources"][name][key]
            yield f"source {name}: without its {key}", mutated
        mutated = copy.deepcopy(facts)
        mutated["sources"][name]["verified"] += "x"
        yield f"source {name}: another verified", mutated
        mutated = copy.deepcopy(facts)
        mutated["sources"][name + "x"] = source
        yield f"source {name}: a second one, without facts", mutated


def line_mutations(artefacts):
    """The files with one line left out or changed: (what, mutated artefacts)."""
    def with_text(attribute, name, text):
        mutated = copy.copy(artefacts)
        setattr(mutated, attribute, {**getattr(artefacts, attribute), name: text})
        return mutated

    for attribute in ("scripts", "jobs", "tests", "users"):
        for name, text in getattr(artefacts, attribute).items():
            if attribute == "users" and not name.endswith((".lua", "job.sh")):
                continue
            for match in re.finditer(r'^(#SBATCH --(?:partition|time|mem|gres|qos|nodes|constraint)=|#PBS -(?:q |l select|l walltime|l filesystems)|export |module load '
                                     r'|setenv\(|depends_on\().*\n', text, re.MULTILINE):
                line = match[0]
                variable = re.match(r'(?:export |setenv\(")(\w+)', line)
                if variable and variable[1] in OURS | OUR_USER_VARIABLES or line.startswith("module load pytorch/"):
                    continue
                if attribute != "jobs" and line.startswith("export ") and match.start() > text.find("\nbegin venv") > 0:
                    continue
                needed = not re.match(r"#SBATCH --(mem|nodes=1$)|#PBS -l (wall|select=1:(?!.*ngpus))", line.strip())
                if needed and not line.startswith("#SBATCH --time"):
                    yield f"{name}: without {line.strip()}", with_text(attribute, name, text.replace(line, "", 1))
                changed = re.sub(r'([\w.]+)(["\')]*\n)$', lambda m: (str(int(m[1].rstrip("M")) * 1000) if m[1].rstrip("M").isdigit()
                                                                   else m[1] + "x") + m[2], line)
                if line.startswith("#PBS -l select"):
                    changed = re.sub(r"ngpus=\d+", "ngpus=9", line)
                elif line.startswith("#PBS -l walltime"):
                    changed = "#PBS -l walltime=999:00:00\n"
                if changed != line:
                    yield f"{name}: {changed.strip()}", with_text(attribute, name, text.replace(line, changed, 1))


def place_mutations(facts, artefacts):
    """The site file with its state or its users' files where nodes do not see them, or where a purge takes them."""
    config = parsed_toml(artefacts.config)
    for mount in facts["mount"]:
        if mount["on_nodes"] and not mount["purged_days"]:
            continue
        path = mount["path"].replace("{user}", facts["user"]).replace("{project}", facts["project"])
        for old in {config["state"]["directory"], config["users"]["directory"]}:
            mutated = copy.copy(artefacts)
            mutated.config = artefacts.config.replace(f'"{old}"', f'"{path}/wheelyard/moved"')
            yield f"{old} on {path}", mutated


def mutations(site):
    facts, artefacts = read_facts(site), Artefacts(site)
    for what, mutated in fact_mutations(facts):
        yield "fact " + what, mutated, artefacts
    for what, mutated in source_mutations(facts):
        yield "fact " + what, mutated, artefacts
    for what, mutated in line_mutations(artefacts):
        yield "line " + what, facts, mutated
    for what, mutated in place_mutations(facts, artefacts):
        yield "place " + what, facts, mutated


def unnoticed(site):
    """How many mutations there are, and which the check does not notice."""
    total, missed = 0, []
    for what, facts, artefacts in mutations(site):
        total += 1
        if not Check(facts, artefacts).run():
            missed.append(f"{site}: {what}")
    return total, missed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--mutate", action="store_true", help="change each fact and each line: the check must notice")
    arguments = parser.parse_args()
    problems = []
    for site in SITES:
        problems += check(site)
        if arguments.mutate:
            total, missed = unnoticed(site)
            print(f"{site}: {total - len(missed)} of {total} mutations noticed")
            problems += missed
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
