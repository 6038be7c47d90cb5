"""What each site's plan builds can be installed as a set: pip's and uv's resolvers over stub wheels that have the plan's names and pins.

The plans are tests/golden/builder/sites/plans/SITE.txt, the requirements those of install-environment and of the build scripts. What
is not built here (numpy, setuptools, cmake, …) is there in the versions before and after the bounds of versions.toml.

uv resolves them all; pip, which takes twenty times as long, one script and the users' environment of the first two sites; all with
WHEELYARD_FULL=1 (scripts/test --full)."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.clients import PIPS_WITH_REPORT
from support.farm import CLIENTS, COMMAND_TIMEOUT_S, ROOT, scrubbed_environment
from support.full import IS_FULL
from support.wheels import Wheel

sys.path.insert(0, str(ROOT / "tests" / "sites"))
import golden  # noqa: E402

SITES = {"alliance": "x86_64", "archer2": "x86_64", "bede-gh200": "aarch64", "derecho": "x86_64", "frontier": "x86_64",
         "aurora": "x86_64", "lumi": "x86_64", "isambard-ai": "aarch64", "perlmutter": "x86_64", "setonix": "x86_64", "jupiter": "aarch64",
         "marenostrum5": "x86_64", "deucalion": "aarch64", "polaris": "x86_64", "dardel": "x86_64"}
# Versions on both sides of each bound, oldest first.
OTHERS = {"numpy": ("1.26.4", "2.3.0"), "setuptools": ("69.5.1", "81.0.0", "84.0.0"), "wheel": ("0.45.1", "0.46.3"),
          "cmake": ("3.31.6", "4.2.0"), "ninja": ("1.13.0",), "packaging": ("25.0",), "build": ("1.3.0",), "mkl-include": ("2024.2.2", "2025.3.0"),
          "mkl-static": ("2024.2.2", "2025.3.0"), "cffi": ("2.0.0",), "cloudpickle": ("3.1.0",), "psutil": ("7.0.0",),
          "pyyaml": ("6.0.2",), "pillow": ("11.0.0",), "filelock": ("3.20.0",), "fsspec": ("2026.1.0",), "jinja2": ("3.1.6",),
          "networkx": ("3.4",), "expecttest": ("0.3.0",), "sympy": ("1.13.3",), "typing-extensions": ("4.15.0",), "tqdm": ("4.67.0",), "requests": ("2.32.0",),
          **{name: ("1.0",) for name in ("iniconfig", "toml", "memory_profiler", "matplotlib", "pyqt5", "graphviz", "nltk", "jupyter", "jupyterlab", "wandb",
                                         "gym", "pyspark", "scikit-learn", "scikit-image", "h5py", "tensorboard-plugin-wit", "tensorboard-pytorch")},
          "tensorboard": ("2.11.2",), "tensorboard_plugin_profile": ("2.11.2",), "lightning-utilities": ("0.15.2",)}
# What the projects' own metadata requires, beside the pin that our script adds.
REQUIRES = {"torch==2.2.2+rocm5.7": ("filelock", "fsspec", "jinja2", "networkx", "sympy", "typing-extensions", "pytorch-triton-rocm==2.2.0"),
            "torch==2.7.1+rocm6.3": ("filelock", "fsspec", "jinja2", "networkx", "sympy", "typing-extensions", "pytorch-triton-rocm==3.3.1"),
            "torch==2.10.0+xpu": ("filelock", "fsspec", "jinja2", "networkx", "sympy", "typing-extensions", "triton-xpu==3.6.0"),
            "torch": ("filelock", "fsspec", "jinja2", "networkx", "sympy", "typing-extensions"), "torchvision": ("numpy", "pillow"),
            "torchtext": ("numpy", "requests", "tqdm"), "horovod": ("cloudpickle", "psutil", "pyyaml", "packaging"),
            "torchmetrics": ("numpy", "packaging", "torch>=1.8.1")}
TORCH_REQUIREMENTS = "numpy\nsetuptools\nfilelock\nfsspec\njinja2\nnetworkx\nsympy\ntyping-extensions\npyyaml\nrequests\n"


def plan_of(site: str) -> list[dict[str, str]]:
    lines = (golden.GOLDEN / "builder" / "sites" / "plans" / f"{site}.txt").read_text().splitlines()
    return [re.fullmatch(r"(?P<name>[\w-]+)==(?P<version>\S+) python(?P<python>[\d.]+)(?: against (?P<against>\S+))?", line).groupdict()
            for line in lines]


def installed_by_users(site: str) -> tuple[list[str], list[str]]:
    """The requirements and the constraints of install-environment."""
    text = golden.read(f"builder/users/{site}")
    [line] = re.findall(r'^"\$root/bin/python" -m pip install (.*)$', text, re.MULTILINE)
    words = shlex.split(line)
    skipped = {"--no-input", "--constraint", "$root/constraints.txt"}
    at = words.index("--extra-index-url")
    requirements = [word for word in words[:at] + words[at + 2:] if word not in skipped]
    return requirements, constraints_in(text)


def constraints_in(text: str) -> list[str]:
    found = re.search(r"^printf '%s\\n' (.*) > \"\$(?:root|folder)/constraints.txt\"$", text, re.MULTILINE)
    return shlex.split(found[1]) if found else []


def tools(with_pip: bool) -> tuple[str, ...]:
    return ("uv", PIPS_WITH_REPORT[-1]) if with_pip or IS_FULL else ("uv",)


class SiteResolveTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-resolve-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.environment = scrubbed_environment(self.folder)

    def stock(self, site: str, python: str) -> Path:
        """The site's index with the plan's wheels, and what the public index has."""
        index = self.folder / f"{site}-{python}"
        index.mkdir(exist_ok=True)
        tag = "cp" + python.replace(".", "")
        for cell in plan_of(site):
            if cell["python"] != python:
                continue
            requires = list(REQUIRES.get(f"{cell['name']}=={cell['version']}", REQUIRES.get(cell["name"], ())))
            if cell["against"] and "triton" not in cell["name"]:
                requires = [one for one in requires if not one.startswith("torch")] + [cell["against"]]
            Wheel(cell["name"], cell["version"], tags=(f"{tag}-{tag}-linux_{SITES[site]}",),
                  metadata_lines=tuple(f"Requires-Dist: {one}" for one in requires)).write(index)
        for name, versions in OTHERS.items():
            for version in versions:
                Wheel(name, version).write(index)
        return index

    def resolve(self, tool: str, site: str, python: str, requirements: list[str], constraints: list[str]) -> dict[str, str] | str:
        """What the resolver chooses, by name; or its complaint."""
        index = self.stock(site, python)
        bounds = self.folder / "constraints.txt"
        bounds.write_text("".join(one + "\n" for one in constraints))
        if tool == "uv":
            wanted = self.folder / "requirements.in"
            wanted.write_text("".join(one + "\n" for one in requirements))
            command = [CLIENTS / "uv" / "bin" / "uv", "pip", "compile", "--no-index", "--find-links", index, "--constraint", bounds,
                       "--python-version", python, "--python-platform", f"{SITES[site]}-unknown-linux-gnu", "--no-header", "--no-annotate", "--offline",
                       "--no-cache", wanted]
        else:
            command = [CLIENTS / tool / "bin" / "python", "-m", "pip", "install", "--dry-run", "--quiet", "--report", "-", "--no-index", "--find-links", index,
                       "--constraint", bounds, "--only-binary", ":all:", "--target", self.folder / "target", "--python-version", python,
                       "--platform", f"linux_{SITES[site]}", *requirements]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        if done.returncode != 0:
            return done.stdout + done.stderr
        if tool == "uv":
            return dict(line.split("==", 1) for line in done.stdout.split() if "==" in line)
        return {one["metadata"]["name"]: one["metadata"]["version"] for one in json.loads(done.stdout)["install"]}

    def assert_chosen(self, chosen, name: str, expected: str):
        self.assertIsInstance(chosen, dict, chosen)
        self.assertEqual(chosen.get(name), expected, chosen)

    def test_the_environment_of_users_resolves_to_the_versions_of_the_plan(self):
        for number, site in enumerate(SITES):
            requirements, constraints = installed_by_users(site)
            python = plan_of(site)[0]["python"]
            for tool in tools(with_pip=number < 2):
                with self.subTest(site=site, tool=tool):
                    chosen = self.resolve(tool, site, python, requirements, constraints)
                    for requirement in requirements:
                        name, _, version = requirement.partition("==")
                        if version:
                            self.assert_chosen({re.sub("[-_.]+", "-", key): one for key, one in chosen.items()}, name.replace("_", "-"), version)
                    torch = next(one for one in requirements if one.startswith("torch=="))
                    old = torch.startswith(("torch==1.", "torch==2.2."))
                    self.assert_chosen(chosen, "numpy", "1.26.4" if old else "2.3.0")

    def test_a_set_that_cannot_be_installed_is_found(self):
        requirements, constraints = installed_by_users("alliance")
        for tool in ("uv", PIPS_WITH_REPORT[-1]):
            with self.subTest(tool=tool):
                # torchtext 0.18.0 is pinned to torch 2.3.0, the environment has torch 2.4.0
                chosen = self.resolve(tool, "alliance", "3.11", [*requirements, "torchtext==0.18.0+computecanada.cudnn8"], constraints)
                self.assertIsInstance(chosen, str)
                self.assertIn("torch", chosen)
                chosen = self.resolve(tool, "frontier", "3.10", ["torch==2.2.2+rocm57.gfx90a"], [])
                self.assertIsInstance(chosen, str)  # our label on an upstream's wheel

    def test_the_build_requirements_of_each_script_resolve_within_the_bounds(self):
        scripts = 0
        for number, site in enumerate(SITES):
            python = plan_of(site)[0]["python"]
            for name, script in golden.of_site("sites", site).items():
                install = re.search(r"^begin requirements\n.*?^pip_install (.*?)$", script, re.MULTILINE | re.DOTALL)
                if not install:
                    continue
                first = name == site
                scripts += 1
                options = ("--upgrade", "--upgrade-strategy", "eager", "--requirement", "requirements.txt")
                words = [word for word in shlex.split(install[1]) if word not in options]
                extra = TORCH_REQUIREMENTS.split() if "requirements.txt" in install[1] else []
                version = re.search(r"^# (torch\w*|horovod|mpi4py) (\S+) for", script, re.MULTILINE)
                against = next((word for word in words if word.startswith("torch==")), "")
                torch = against.split("==")[1] if against else version[2] if version[1] == "torch" else ""
                for tool in tools(with_pip=first and number < 2):
                    with self.subTest(script=name, tool=tool):
                        chosen = self.resolve(tool, site, python, words + extra, constraints_in(script))
                        self.assertIsInstance(chosen, dict, chosen)
                        if not torch:
                            continue
                        cmake = "3.31.6" if tuple(map(int, torch.split("+")[0].split("."))) < (2, 8) else "4.2.0"
                        self.assertEqual(chosen.get("cmake", cmake), cmake)
                        old = torch.startswith(("1.", "2.0"))
                        self.assertEqual(chosen["setuptools"], "69.5.1" if old else "81.0.0")
                        self.assertEqual(chosen.get("wheel", "0.45.1"), "0.45.1" if old else "0.46.3")
        self.assertGreaterEqual(scripts, 20)


if __name__ == "__main__":
    main()
