#!/usr/bin/env python3
"""`site check` tries every kind of job with a real Slurm that has accounts, qualities of service, GPUs and limits. Each wrong request is
refused, and the answer names the key that decides, with its file and line."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.farm import BIN, COMMAND_TIMEOUT_S
from support.site import PYTHON, PYTHON_VERSION
from support.slurm_accounting import missing_accounting
from support.slurm_cluster import SlurmCluster, missing_programs

MISSING = missing_programs() + missing_accounting()
GPUS = 2
PARTITIONS = """PartitionName=standard Nodes=ALL MaxTime=60 DefMemPerCPU=64 State=UP
PartitionName=small Nodes=ALL MaxTime=60 MaxMemPerNode=512 MaxCPUsPerNode=2 MaxNodes=1 State=UP
PartitionName=slow Nodes=ALL MaxTime=60 DefMemPerCPU=64 State=UP
PartitionName=others Nodes=ALL MaxTime=60 AllowAccounts=other State=UP
"""
SITE = f"""config_version = 1
name = "here"
recipes = ["recipes"]

[registry]
url = "http://127.0.0.1:9"
index = "here"
token_file = "token"

[state]
directory = "state"

[work]
directory = "work"

[scheduler]
kind = "slurm"
partition = "standard"
account = "project"
options = ["--qos=steady"]
cores = 4
memory_mib = 1000
max_memory_mib = 2000
minutes = 30
max_walltime_minutes = 60

[hardware_tests.gpu]
options = ["--qos=steady"]

[hardware_tests.multi_node]
partition = "standard"
options = ["--qos=steady"]

[[node]]
name = "big"
queue = "standard"
cores = 8
memory_mib = 4000
gpus = {GPUS}
accelerator = "a100"

[[accelerator]]
name = "a100"
kind = "cuda"
architectures = ["sm_80"]

[[python]]
version = "{PYTHON_VERSION}"
executable = "{PYTHON}"

[users]
directory = "environment"
module = "torch/1.0"
requirements = ["torch==1.0"]
nodes = 2
minutes = 20

[[want]]
package = "torch"
versions = ["1.0"]
"""
RECIPE = """config_version = 1
package = "torch"
accelerators = ["cuda"]

[source]
kind = "git"
url = "https://example.org/torch"

[test.gpu]
command = "true"
gpus_per_node = 1
minutes = 10

[test.multi_node]
command = "true"
nodes = 2
ranks_per_node = 2
gpus_per_node = 2
memory_mib = 800
minutes = 15
"""
GOOD = ["build of torch", "largest retry of a build", "GPU test on a100 of torch", "multi-node test on a100 of torch", "job of a user"]
BUILD, LARGEST, GPU, MULTI, USER = GOOD
# What is changed in which section, the job that is refused, the key that is named, and what else the advice has.
WRONG = [
    ("scheduler", 'partition = "standard"', 'partition = "standrad"', BUILD, "scheduler.partition", "queue standrad"),
    ("scheduler", 'partition = "standard"', 'partition = "others"', BUILD, "scheduler.partition", "queue others"),
    ("scheduler", 'account = "project"', 'account = "porject"', BUILD, "scheduler.account", "account porject"),
    ("scheduler", 'options = ["--qos=steady"]', 'options = ["--qos=nosuch"]', BUILD, "scheduler.options", "--qos=nosuch"),
    ("scheduler", 'options = ["--qos=steady"]', 'options = ["--qos=steady", "--constraint=nosuch"]', BUILD, "scheduler.options",
     "--constraint=nosuch"),
    ("scheduler", 'options = ["--qos=steady"]', 'options = ["--gres=tpu:1", "--qos=steady"]', BUILD, "scheduler.options", "--gres=tpu:1"),
    ("scheduler", 'options = ["--qos=steady"]', 'options = ["--qos=short"]', BUILD, "scheduler.minutes of the site", "30 minutes"),
    ("scheduler", 'options = ["--qos=steady"]', 'options = ["--qos=slow"]', BUILD, "scheduler.minutes of the site", "30 minutes"),
    ("scheduler", 'partition = "standard"', 'partition = "slow"', BUILD, "scheduler.minutes of the site", "30 minutes"),
    ("scheduler", "minutes = 30\nmax_walltime_minutes = 60", "minutes = 600\nmax_walltime_minutes = 600", BUILD,
     "scheduler.minutes of the site", "600 minutes"),
    ("scheduler", "max_walltime_minutes = 60", "max_walltime_minutes = 600", LARGEST, "scheduler.max_walltime_minutes", "600 minutes"),
    ("scheduler", "\nmemory_mib = 1000\nmax_memory_mib = 2000", "\nmemory_mib = 90000", BUILD, "scheduler.memory_mib of the site", "90000 MiB"),
    ("scheduler", "max_memory_mib = 2000", "max_memory_mib = 90000", LARGEST, "scheduler.max_memory_mib", "90000 MiB"),
    ("scheduler", "cores = 4", "cores = 64", BUILD, "scheduler.cores of the site", "1 × 64 cores"),
    ("scheduler", "cores = 4", "cores = 4\ngpus = 9", BUILD, "scheduler.gpus", "9 GPUs"),
    ("hardware_tests.gpu", "options", 'partition = "nosuch"\noptions', GPU, "hardware_tests.gpu.partition", "queue nosuch"),
    ("hardware_tests.multi_node", 'partition = "standard"', 'partition = "small"', MULTI, "hardware_tests.multi_node.partition",
     "queue small"),
    ("node", 'queue = "standard"', 'queue = "nosuch"', GPU, "node.big.queue", "queue nosuch"),
    ("users", "nodes = 2", "nodes = 9", USER, "users.nodes", "9 nodes"),
    ("users", "minutes = 20", "minutes = 200", USER, "users.minutes", "200 minutes"),
    ("test.gpu", "gpus_per_node = 1", "gpus_per_node = 3", GPU, "test.gpu.gpus_per_node of the recipe", "3 GPUs"),
    ("test.multi_node", "nodes = 2", "nodes = 5", MULTI, "test.multi_node.nodes of the recipe", "5 nodes"),
]


class Cluster(SlurmCluster):
    def write_config(self) -> None:
        super().write_config()
        text = self.config.read_text().replace("State=UNKNOWN", f"Gres=gpu:{GPUS} Feature=nvme State=UNKNOWN")
        self.config.write_text(f"GresTypes=gpu\nAccountingStorageEnforce=associations,limits,qos\n{text}{PARTITIONS}")
        devices = [self.folder / f"gpu{number}" for number in range(GPUS)]
        for device in devices:
            device.touch()
        (self.folder / "gres.conf").write_text(f"NodeName={','.join(self.nodes)} Name=gpu File={self.folder}/gpu[0-{GPUS - 1}]\n")

    def account(self, *words: str) -> None:
        self.run("sacctmgr", "--immediate", *words)

    def make_accounts(self) -> None:
        user = subprocess.run(["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()
        self.account("add", "account", "project", "other")
        self.account("add", "qos", "steady")
        self.account("add", "qos", "short", "MaxWall=10", "Flags=DenyOnLimit")
        self.account("add", "qos", "slow", "MaxWall=10")
        self.run("sacctmgr", "--immediate", "add", "user", user, "account=project", check=False)  # root is there already
        self.account("modify", "user", user, "set", "DefaultAccount=project")
        self.account("modify", "user", user, "where", "account=project", "set", "qos=normal,steady,short,slow")


@unittest.skipIf(MISSING, f"no Slurm with accounting here: {' '.join(MISSING)} missing")
class SiteJobsTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="wheelyard-site-jobs-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.cluster = Cluster(cls.folder / "slurm", nodes=2, accounting=True)
        cls.cluster.folder.mkdir()
        cls.cluster.__enter__()
        cls.addClassCleanup(cls.cluster.__exit__)
        cls.cluster.make_accounts()
        (cls.folder / "recipes").mkdir()

    def check(self, site: str = SITE, recipe: str = RECIPE) -> dict[str, dict]:
        """The lines on jobs, by job."""
        (self.folder / "site.toml").write_text(site)
        (self.folder / "recipes" / "torch.toml").write_text(recipe)
        environment = os.environ | self.cluster.environment | {"SBATCH_PARTITION": "nosuch"}  # a submission ignores it
        done = subprocess.run([BIN / "wheelyard-builder", "site", "check", "--site", self.folder / "site.toml", "--json"], env=environment,
                              capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False)
        lines = [line for line in json.loads(done.stdout)["lines"] if line["what"].startswith("job: ")]
        return {line["what"].removeprefix("job: "): line for line in lines}

    def test_slurm_would_take_every_kind_of_job_of_a_correct_site(self):
        lines = self.check()
        self.assertEqual({what: line["found"] for what, line in lines.items() if not line["good"]}, {})
        self.assertEqual(sorted(lines), sorted(GOOD))
        for line in lines.values():
            self.assertRegex(line["found"], r"^Job \d+ to start at ")
        self.assertEqual(self.cluster.jobs(), [])

    def test_each_wrong_request_is_refused_and_names_its_key_and_line(self):
        self.cluster.run("scontrol", "update", "PartitionName=slow", "QOS=slow")  # a restart of slurmctld forgets it
        for section, old, new, job, key, value in WRONG:
            with self.subTest(change=new, section=section):
                in_recipe = section.startswith("test.")
                text = RECIPE if in_recipe else SITE
                at = text.index(f"[{section}]" if f"[{section}]\n" in text else f"[[{section}]]")
                changed = text[:at] + text[at:].replace(old, new, 1)
                self.assertNotEqual(changed, text)
                lines = self.check(recipe=changed) if in_recipe else self.check(site=changed)
                line = lines[job]
                self.assertFalse(line["good"], lines)
                self.assertRegex(line["found"], "^refused: .")
                name = key.split(" ")[0].rsplit(".", 1)[1]
                number = changed[:changed.index(f"\n{name} = ", changed.index(f"[{section}]" if not in_recipe and f"[{section}]\n" in changed
                                                                             else f"{section}]" if in_recipe else f"[[{section}]]"))].count("\n") + 2
                file = "recipes/torch.toml" if in_recipe else "site.toml"
                self.assertRegex(line["advice"], rf"{re.escape(value)}.*: {re.escape(key)}, {re.escape(str(self.folder / file))}:{number}:\d+$")

    def test_two_sizes_that_are_too_large_are_both_named(self):
        line = self.check(SITE.replace("minutes = 30\nmax_walltime_minutes = 60", "minutes = 600\nmax_walltime_minutes = 600")
                          .replace("cores = 4", "cores = 64"))[BUILD]
        self.assertFalse(line["good"])
        for words in ("600 minutes: scheduler.minutes", "64 cores: scheduler.cores"):
            self.assertIn(words, line["advice"])

    def test_a_controller_that_does_not_answer_refuses_nothing(self):
        self.cluster.stop_server()
        self.addCleanup(self.cluster.wait, "the nodes", self.cluster.has_nodes)
        self.addCleanup(self.cluster.start_server)
        self.assertEqual(self.check(), {})


if __name__ == "__main__":
    main()
