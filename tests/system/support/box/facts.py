"""What the box takes from the facts of a site (tests/sites/facts/SITE.toml), with its places filled in."""

import copy
import re
import tomllib
from dataclasses import dataclass, field

from support.farm import ROOT

FACTS = ROOT / "tests/sites/facts"

# Of a person in the project who is not the agent.
OTHER_USER = "colleague"


@dataclass
class Mount:
    path: str
    on_nodes: bool
    purged_days: int
    of_a_job: bool
    per_user: bool


@dataclass
class Module:
    name: str
    programs: list[str] = field(default_factory=list)
    sets: list[str] = field(default_factory=list)
    home: str = ""
    folders: list[str] = field(default_factory=list)
    within: str = ""  # the variable that names the folder of its modulefile's folder `modules`: of EasyBuild for one project


class BoxFacts:
    def __init__(self, facts: dict):
        self.facts = facts
        self.site, self.project, self.user = facts["site"], facts["project"], facts["user"]
        self.account = facts.get("account", self.project)
        self.partitions = facts["partition"]

    def place(self, path: str) -> str:
        return path.replace("{project}", self.project).replace("{user}", self.user)

    @property
    def mounts(self) -> list[Mount]:
        return [Mount(self.place(one["path"]), one["on_nodes"], one["purged_days"], one.get("of_a_job", False), "{user}" in one["path"])
                for one in self.facts["mount"]]

    @property
    def modules(self) -> list[Module]:
        known = {one["module"]: Module(one["module"], one.get("programs", []), one.get("sets", []), one.get("home", ""), one.get("folders", []),
                                       one.get("within", ""))
                 for one in self.facts.get("provides", [])}
        names = dict.fromkeys(name for one in self.facts["modules"] for name in one["load"])
        return [known.get(name, Module(name)) for name in names]

    @property
    def module_init(self) -> str:
        [one] = self.facts["init"]
        return one["path"]

    def is_a(self, kind: str) -> list[list[str]]:
        return [one["is"] for one in self.facts["machine"] if one["is"][0] == kind]

    @property
    def python(self) -> str:
        [[_, version, _]] = self.is_a("python")
        return version

    @property
    def batch_system(self) -> str:
        [[_, name]] = self.is_a("batch system")
        return name

    @property
    def offline(self) -> bool:
        return self.is_a("offline jobs") == [["offline jobs", "True"]]

    @property
    def gpus(self) -> int:
        """Of one node."""
        asked = [one["gpus"] for one in self.facts["job"]] + [one["gpus"] for one in self.facts.get("node", [])]
        asked += [int(word.rpartition("=")[2]) for one in self.facts["job"] for word in one.get("options", []) if "gpus" in word]
        return max(asked)

    @property
    def gpus_with_node(self) -> int:
        """GPUs that each job of a whole node has without asking: as many as ranks, by the launcher of the test over nodes."""
        if self.gpus > 0 or not (self.is_a("cuda") or self.is_a("xpu")):
            return 0
        words = next(one["words"] for one in self.facts["launcher"] if one["of"].endswith(".multi-node-test"))
        return int(words[words.index("-ppn") + 1])

    def requires(self, package: str, version: str) -> list[str]:
        """What an upstream's wheel requires that only its own index has."""
        return [one["requires"] for one in self.facts.get("required", []) if (one["package"], one["version"]) == (package, version)]

    @property
    def conda_packages(self) -> list[str]:
        return [name for _, name in self.is_a("conda package")]

    @property
    def promises(self) -> list[str]:
        return sorted({name for one in self.facts.get("promise", []) for name in one["has"]})

    @property
    def options(self) -> set[str]:
        """Options that every job of the site needs: of all of its jobs in the facts; of several QOS that of builds."""
        sets = [set(one.get("options", [])) for one in self.facts["job"]]
        return set.intersection(*sets) | {word for word in self.facts["job"][0].get("options", []) if word.startswith("--qos=")}

    @property
    def qualities(self) -> list[str]:
        """The QOS that its jobs may name."""
        return sorted({word.partition("=")[2] for one in self.facts["job"] for word in one.get("options", []) if word.startswith("--qos=")})

    @property
    def not_asked(self) -> list[str]:
        """What the site's filter lets no job ask for."""
        return self.facts.get("node", [{}])[0].get("not_asked", [])

    @property
    def cores_per_gpu(self) -> int:
        return self.facts.get("node", [{}])[0].get("cores_per_gpu", 0)

    @property
    def features(self) -> list[str]:
        return sorted({word.partition("=")[2] for one in self.facts["job"] for word in one.get("options", []) if word.startswith("--constraint=")})

    def variables(self, script: str) -> dict[str, str]:
        found = {}
        for fact in self.facts["variables"]:
            if script in fact["scripts"]:
                found |= fact["values"]
        return found

    def torches(self, package: str, version: str) -> list[str]:
        """The versions of torch that a companion of this version is wanted for."""
        wants = [one["version"] for one in self.facts["want"] if one["package"] == package and "with" in one]
        return [torch for torch in wants if companion_version(package, torch) == version]

    def load(self, script: str) -> list[str]:
        return next((one["load"] for one in self.facts["modules"] if script in one["scripts"]), [])

    def words(self, script: str) -> list[str]:
        return next((one["words"] for one in self.facts.get("steps", []) if script in one["scripts"]), [])


def read_facts(site: str, stack: str = "") -> dict:
    """Of the site's document; with a stack, what SITE.STACK.toml says instead, and the variables that it adds."""
    facts = tomllib.loads((FACTS / f"{site}.toml").read_text())
    if stack:
        newer = tomllib.loads((FACTS / f"{site}.{stack}.toml").read_text())
        sources = facts["sources"] | newer.pop("sources")
        more = [{"scripts": [script], "values": values} for script, values in newer.pop("more_variables", {}).items()]
        facts |= newer
        facts |= {"sources": sources, "variables": facts["variables"] + more}
    return facts


def companion_version(package: str, torch: str) -> str:
    """Of the table of version pairs."""
    pairs = tomllib.loads((ROOT / "site-configs/common/versions.toml").read_text())["pair"]
    row = next((pair for pair in pairs if pair["package"] == package and pair["use"] == "companion" and
                (pair["allowed"] == f"=={torch}" or not pair["allowed"].startswith("==") or
                 pair["allowed"].endswith(".*") and torch.startswith(pair["allowed"][2:-1]))), None)
    return row["versions"].removeprefix("==") if row else torch


def changed(facts: dict, place: str, value) -> dict:
    """The facts with one value changed: "partition.0.name", "mount.1.on_nodes"."""
    mutated = copy.deepcopy(facts)
    *path, last = [int(word) if re.fullmatch(r"\d+", word) else word for word in place.split(".")]
    inside = mutated
    for word in path:
        inside = inside[word]
    if inside[last] == value:
        raise AssertionError(f"{place} is {value} already")
    inside[last] = value
    return mutated
