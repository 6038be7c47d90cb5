"""Each site in a box: a machine made from the facts of the site's documents (tests/sites/facts), on which staff type what the site's page says,
the agent builds, tests and promotes small stand-ins for the site's packages, a colleague installs and runs them, and a purge takes what is old.
Nothing of the box comes from the site file, so that a wrong site file fails here, and so does a wrong fact: each site has some.

WHEELYARD_UPDATE_GOLDEN=1 writes the tables of sites, phases and wrong facts in tests/sites/site-boxes.md."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support.box.cluster import BoxCluster
from support.box.facts import FACTS, BoxFacts, read_facts
from support.box.run import PHASES
from support.case import main
from support.farm import ROOT
from support.full import full
from support.site import PYTHON
from support.slurm_cluster import missing_programs
from support.user_files import LMOD

RUN = Path(__file__).parent / "support" / "box" / "run.py"
PAGE = ROOT / "tests" / "sites" / "site-boxes.md"
LIMIT_S = 900
NAMESPACES = ["unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]

# A wrong fact, and the phase that it fails in.
MUTATIONS = {
    "bede-gh200": [('partition.0.name="ghx"', "check"), ("partition.0.max_minutes=60", "check"), ('modules.0.load.4="cuda/12.4"', "check"),
                   ('variables.3.values.TORCH_CUDA_ARCH_LIST="9.0a"', "build")],
    "archer2": [('modules.0.load.2="mkl/2024.0"', "check"), ("mount.0.on_nodes=false", "build"), ('variables.1.values.MKL_THREADING="OMP"', "build")],
    "frontier": [("partition.0.max_minutes=60", "check"), ('provided.0.version="1.20.1"', "build"), ('provides.2.home="/opt/rocm-6.0.0"', "build")],
    "derecho": [("partition.0.max_minutes=60", "check"), ('modules.0.load.6="cudnn/9.3"', "check"),
                ('library.0.path="/opt/cray/pe/mpich/8.1.28/gtl/lib/libmpi_gtl_cuda.so"', "build"),
                ('variables.3.values.TORCH_CUDA_ARCH_LIST="9.0"', "build"), ('provided.0.version="1.20.1"', "build"),
                ("node.0.memory_mib=32000", "check")],
    "alliance": [('init.0.path="/etc/profile"', "check"), ("partition.0.max_memory_mib=32000", "check"), ('variables.1.values.USE_CUSPARSELT="0"', "build"),
                 ('variables.5.values.FORCE_CUDA="0"', "build")],
    "aurora": [("partition.0.max_minutes=60", "check"), ('modules.0.load.1="mpich/opt/4.3.1"', "check")],
    "lumi": [('variables.1.values.EBU_USER_PREFIX="/project/project_465000000/Other"', "check")],
    "isambard-ai": [('account="brics.other"', "check"), ('modules.0.load.1="cudatoolkit/23.9_12.2"', "check")],
    "perlmutter": [('account="m1234"', "check"), ("qos.0.max_minutes=60", "check")],
    "setonix": [("partition.0.max_minutes=60", "check"), ('modules.0.load.2="rocm/6.2.4"', "check")],
    "jupiter": [("partition.0.max_minutes=60", "check"), ('modules.0.load.0="Stages/2026"', "check")],
    "marenostrum5": [("node.0.cores_per_gpu=40", "check"), ("qos.1.max_nodes=1", "check")],
    "deucalion": [('account="f202500001examplex"', "check"), ('variables.1.values.CFLAGS="-march=armv8-a"', "build")],
    "polaris": [("partition.0.max_minutes=60", "check"), ('modules.0.load.0="PrgEnv-gnu/8.7.0"', "check")],
    "dardel": [('account="naiss2026-1-2"', "check"), ('modules.0.load.3="rocm/6.2.4"', "check")],
}
PHASE_TEXTS = {
    "start": "a root, two nodes and the batch system from the facts",
    "limits": "it takes jobs at each limit and refuses them above it; it refuses other accounts",
    "prepare": "the page's commands: `sed`, Conda, tokens",
    "check": "`site check` passes",
    "report": "`site check --report`, without a token",
    "plan": "the plan has what the documents want",
    "build": "every wheel is built in a job with the documents' modules, variables and flags, and uploaded",
    "test": "every torch was tested on GPUs and over nodes, where the site has them",
    "promote": "the tested wheels are in the index of users",
    "install": "another user runs `install-environment`; on Derecho the agent's user, whose folder it is",
    "user_job": "another user's job with the files for users; its ranks add numbers",
    "purge": "all files on purged file systems go; agent and users go on",
}


def missing() -> str:
    lacks = [*missing_programs(), *(name for name in ("ip", "unshare", "mpicc", "git") if shutil.which(name, path="/usr/sbin:/usr/bin:/sbin:/bin") is None)]
    if lacks or not LMOD.exists():
        return f"{' '.join(lacks) or 'Lmod'} missing: scripts/install-deps --test"
    if os.geteuid() != 0 or subprocess.run([*NAMESPACES, "true"], capture_output=True, check=False).returncode != 0:
        return "namespaces and mounts of one's own need root"
    return ""


def run_box(site: str, *mutations: str) -> dict:
    folder = Path(tempfile.mkdtemp(prefix="wheelyard-box-"))
    try:
        done = subprocess.run([*NAMESPACES, PYTHON, "-B", RUN, site, folder, *mutations], capture_output=True, text=True, timeout=LIMIT_S)
    finally:
        folder.rmdir()
    if done.returncode != 0:
        raise AssertionError(done.stdout[-8000:] + done.stderr[-8000:])
    return json.loads(done.stdout.splitlines()[-1])


class SiteBoxPageTest(unittest.TestCase):
    def test_the_page_lists_each_wrong_fact_with_the_phase_that_it_fails_in(self):
        begin, end = "<!-- wrong facts: site_box_test.py writes them -->\n", "<!-- end of wrong facts -->\n"
        rows = [f"| {site} | `{fact}` | {phase} |" for site, all_of in sorted(MUTATIONS.items()) for fact, phase in all_of]
        before, _, rest = PAGE.read_text().partition(begin)
        listed, _, after = rest.partition(end)
        table = "\n".join(["| site | wrong fact | fails in |", "|---|---|---|", *rows]) + "\n"
        if os.environ.get("WHEELYARD_UPDATE_GOLDEN") == "1":
            PAGE.write_text(before + begin + table + end + after)
        else:
            self.assertEqual(listed, table)


# What a site's guide says of a job (site, what the job asks for), and whether its filter takes it. The words are those of job_submit.lua.
FILTERED = [
    ("setonix", {"account": "pawsey0001-gpu", "tres_per_node": "gres:gpu:1"}, True),
    ("setonix", {"account": "pawsey0001-gpu", "tres_per_node": "gres:gpu:1", "cpus_per_task": 8}, False),
    ("setonix", {"account": "pawsey0001-gpu", "tres_per_node": "gres:gpu:1", "min_mem_per_node": 29440}, False),
    ("setonix", {"account": "pawsey0001", "tres_per_node": "gres:gpu:1"}, False),
    ("marenostrum5", {"account": "ehpc001", "qos": "acc_debug", "tres_per_node": "gres:gpu:1", "cpus_per_task": 20}, True),
    ("marenostrum5", {"account": "ehpc001", "qos": "acc_debug", "tres_per_node": "gres:gpu:4", "cpus_per_task": 20, "ntasks_per_node": 4}, True),
    ("marenostrum5", {"account": "ehpc001", "qos": "acc_debug", "tres_per_node": "gres:gpu:1", "cpus_per_task": 2}, False),
    ("marenostrum5", {"account": "ehpc001", "qos": "acc_debug", "min_mem_per_node": 1}, False),
    ("marenostrum5", {"account": "ehpc001"}, False),
    ("marenostrum5", {"account": "ehpc001", "qos": "acc_debug", "time_limit": 121}, False),
    ("perlmutter", {"account": "m1234_g", "qos": "shared", "time_limit": 2880, "cpus_per_task": 32, "min_mem_per_node": 56000}, True),
    ("perlmutter", {"account": "m1234_g", "qos": "shared", "min_nodes": 2}, False),
    ("perlmutter", {"account": "m1234_g", "qos": "debug", "min_nodes": 2, "time_limit": 30}, True),
    ("lumi", {"account": "project_465000000", "cpus_per_task": 56, "min_mem_per_node": 64000}, True),
]


@unittest.skipIf(shutil.which("lua") is None, "lua missing")
class BoxFilterTest(unittest.TestCase):
    def test_a_boxs_filter_takes_and_refuses_what_the_guide_says(self):
        unset = {"cpus_per_task": 65534, "ntasks_per_node": 65534, "time_limit": 4294967294, "min_nodes": 4294967294}
        for site, job, taken in FILTERED:
            with self.subTest(site=site, **job):
                cluster = BoxCluster.__new__(BoxCluster)
                cluster.facts = BoxFacts(read_facts(site))
                fields = ", ".join(f"{key} = {json.dumps(value)}" for key, value in {**unset, **job}.items())
                text = f"slurm = {{SUCCESS = 0, ERROR = -1, log_user = print}}\nload(io.read('a'))()\nos.exit(slurm_job_submit({{{fields}}}) == 0)"
                done = subprocess.run(["lua", "-e", text], input=cluster.job_submit(), capture_output=True, text=True)
                self.assertEqual(done.stderr, "")
                self.assertEqual(done.returncode == 0, taken, done.stdout)


@unittest.skipIf(missing(), missing())
class SiteBoxTest(unittest.TestCase):
    def assert_site(self, site: str):
        """A site, or SITE@today: with the stack of today.toml."""
        result = run_box(site)
        self.assertIsNone(result["failed"], f"{site}: {result['failed']}\n{result.get('text', '')}")
        self.assertEqual(list(result["phases"]), ["start", *PHASES])
        print(f"{site}: {result['ranks']}; {result['purged']} files purged; seconds: {result['phases']}", file=sys.stderr)
        row = f"| {site} | " + " | ".join("yes" for _ in result["phases"]) + f" | {result['ranks'].split(',')[0]} |"
        text = PAGE.read_text()
        if os.environ.get("WHEELYARD_UPDATE_GOLDEN") == "1":
            table = re.search(r"^\| site \| start \|.*\n(?:\|.*\n)+", text, re.MULTILINE)[0]
            lines = table.splitlines()
            at = next((number for number, line in enumerate(lines) if line.startswith(f"| {site} |")), len(lines))
            lines[at:at + 1] = [row]
            PAGE.write_text(text.replace(table, "\n".join(lines) + "\n"))
        else:
            self.assertIn(row, text.splitlines())

    def assert_wrong_facts(self, site: str):
        for mutation, phase in MUTATIONS[site]:
            with self.subTest(mutation):
                result = run_box(site, mutation)
                self.assertEqual(result["failed"], phase, result.get("text"))

    def test_bede(self):
        self.assert_site("bede-gh200")

    @full
    def test_each_site_with_todays_stack(self):
        for facts in sorted(FACTS.glob("*.today.toml")):
            site = facts.name.removesuffix(".today.toml")
            with self.subTest(site):
                self.assert_site(f"{site}@today")

    @full
    def test_archer2(self):
        self.assert_site("archer2")

    @full
    def test_frontier(self):
        self.assert_site("frontier")

    @full
    def test_alliance(self):
        self.assert_site("alliance")

    @full
    def test_derecho_over_pbs_by_replay(self):
        self.assert_site("derecho")

    @full
    def test_aurora_over_pbs_by_replay(self):
        self.assert_site("aurora")

    @full
    def test_polaris_over_pbs_by_replay(self):
        self.assert_site("polaris")

    @full
    def test_lumi(self):
        self.assert_site("lumi")

    @full
    def test_isambard(self):
        self.assert_site("isambard-ai")

    @full
    def test_perlmutter(self):
        self.assert_site("perlmutter")

    @full
    def test_setonix(self):
        self.assert_site("setonix")

    @full
    def test_jupiter(self):
        self.assert_site("jupiter")

    @full
    def test_marenostrum(self):
        self.assert_site("marenostrum5")

    @full
    def test_deucalion(self):
        self.assert_site("deucalion")

    @full
    def test_dardel(self):
        self.assert_site("dardel")

    @full
    def test_wrong_facts_of_each_site_fail_in_its_box(self):
        for site in MUTATIONS:
            self.assert_wrong_facts(site)


if __name__ == "__main__":
    main()
