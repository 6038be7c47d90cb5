"""`cmake --install` puts manual pages, completions and site configurations into the GNU folders; they say what the programs' help says."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.farm import BIN, ROOT

PROGRAMS = ("avail_wheels", "wheelyard-builder", "wheelyard-governor", "wheelyard-indexer", "wheelyard-registry")
GENERATE = ROOT / "scripts" / "generate-shell-files"
LIMIT_S = 300


def run(*argv, **more) -> subprocess.CompletedProcess:
    return subprocess.run(argv, capture_output=True, text=True, timeout=LIMIT_S, check=False, **more)


class ShellFilesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.prefix = Path(tempfile.mkdtemp(prefix="wheelyard-install-"))
        cls.addClassCleanup(shutil.rmtree, cls.prefix, ignore_errors=True)
        done = run("cmake", "--install", BIN.parent, "--prefix", cls.prefix)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.share = cls.prefix / "share"

    def complete(self, *words: str) -> list[str]:
        """What bash offers for the last word."""
        function = "_" + words[0].replace("-", "_")
        script = (f'. "{self.share}/bash-completion/completions/{words[0]}"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); {function}; '
                  'printf "%s\\n" "${COMPREPLY[@]}"')
        done = run("bash", "-c", script, "bash", *words, cwd=self.prefix)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()

    def test_the_folders_are_complete(self):
        for name in PROGRAMS:
            for path in (f"bin/{name}", f"share/man/man1/{name}.1", f"share/bash-completion/completions/{name}",
                         f"share/zsh/site-functions/_{name}", f"share/fish/vendor_completions.d/{name}.fish"):
                self.assertGreater((self.prefix / path).stat().st_size, 100, path)
        self.assertTrue((self.share / "wheelyard/site-configs/common/recipes/torch.toml").is_file())
        self.assertTrue((self.share / "doc/wheelyard/LICENSE").is_file())

    def test_an_installed_builder_finds_the_installed_recipes(self):
        done = run(self.prefix / "bin/wheelyard-builder", "site", "init", "--yes", "--to", "-", env={"PATH": "/usr/bin:/bin", "HOME": "/tmp"})
        self.assertIn(f'recipes = ["{self.share}/wheelyard/site-configs/common/recipes"]', done.stdout, done.stderr)

    def test_the_same_programs_give_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run(GENERATE, "--bin", BIN, "--to", folder).returncode, 0)
            for path in Path(folder).rglob("*"):
                if path.is_file():
                    self.assertEqual(path.read_bytes(), (self.share / path.relative_to(folder)).read_bytes(), path)

    def test_bash_completes_commands_options_and_choices(self):
        self.assertEqual(self.complete("wheelyard-registry", "se"), ["serve"])
        self.assertEqual(self.complete("wheelyard-registry", "token", "cr"), ["create"])
        self.assertIn("--expires", self.complete("wheelyard-registry", "token", "create", "--ex"))
        self.assertEqual(self.complete("wheelyard-builder", "site", "in"), ["init"])
        self.assertIn("--force", self.complete("wheelyard-builder", "site", "init", "--f"))
        self.assertIn("--memory", self.complete("wheelyard-governor", "--mem"))
        (self.prefix / "site.toml").touch()
        self.assertEqual(self.complete("wheelyard-builder", "plan", "--site", "sit"), ["site.toml"])
        self.assertEqual(self.complete("wheelyard-registry", "token", "create", "--name", ""), [])

    def test_shells_accept_their_completions(self):
        for shell, place in (("bash", "bash-completion/completions"), ("zsh", "zsh/site-functions"), ("fish", "fish/vendor_completions.d")):
            if shutil.which(shell) is None:
                continue
            for path in (self.share / place).iterdir():
                done = run(shell, "-n", path)
                self.assertEqual((done.returncode, done.stderr), (0, ""), path)

    @unittest.skipUnless(shutil.which("groff"), "no groff here")
    def test_manual_pages_have_no_warnings_and_name_every_command(self):
        for name in PROGRAMS:
            page = run("groff", "-man", "-Tutf8", "-ww", "-P-cbou", self.share / f"man/man1/{name}.1")
            self.assertEqual((page.returncode, page.stderr), (0, ""), name)
            self.assertIn("SYNOPSIS", page.stdout)
        self.assertIn("token create", page.stdout)

    def test_version_names_commit_compiler_and_libraries(self):
        for name in PROGRAMS:
            done = run(BIN / name, "-V" if name == "avail_wheels" else "--version")
            lines = done.stdout.splitlines()
            self.assertRegex(lines[0], rf"^{name} \d+\.\d+\.\d+$")
            self.assertRegex(lines[1], r"^commit ([0-9a-f]{12}|unknown)$")
            self.assertRegex(lines[2], r"^compiled by (GCC|Clang) \d+\..* for (x86_64|aarch64), (glibc \d|musl)")
            self.assertEqual("libcurl" in done.stdout, name.startswith("wheelyard-") and name != "wheelyard-governor", done.stdout)


if __name__ == "__main__":
    unittest.main()
