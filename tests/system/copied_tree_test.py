"""docs/how-to/copy-a-tree.md with the real rsync: its script copies the tree of a running registry, and a client of the copy never gets a
page that names a file which is not there, whatever changes meanwhile and wherever the script ends."""

import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

from support.case import FarmCase, main
from support.clients import RawUpload, installed_value, pip_install
from support.farm import BIN, COMMAND_TIMEOUT_S, INDEX, ROOT
from support.wheels import Wheel, sha256_of


def script_of_page() -> str:
    page = (ROOT / "docs/how-to/copy-a-tree.md").read_text()
    return re.search(r"<!-- copy-tree: .*?-->\n```sh\n(.*?)```\n", page, re.DOTALL)[1]


class CopiedTreeTest(FarmCase):
    def setUp(self):
        super().setUp()
        (self.folder / "copy-tree.sh").write_text(script_of_page())
        self.copy = self.folder / "copy"
        self.hooks = self.folder / "hooks"
        self.hooks.mkdir()
        # rsync itself, then what the test wants to happen after its pass.
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "rsync").write_text(f'#!/bin/sh\necho pass >>"{self.hooks}/passes"\n"{shutil.which("rsync")}" "$@"\nstatus=$?\n'
                                        f'[ ! -f "{self.hooks}/after" ] || mv "{self.hooks}/after" "{self.hooks}/now"\n'
                                        f'[ ! -f "{self.hooks}/now" ] || {{ sh "{self.hooks}/now" >&2; rm "{self.hooks}/now"; }}\nexit $status\n')
        (programs / "rsync").chmod(0o755)
        self.environment = self.farm.environment | {"PATH": f"{programs}:{BIN}:{os.environ['PATH']}"}

    def upload(self, *wheels: Path) -> None:
        for wheel in wheels:
            status, problem = RawUpload(self.farm, self.token, wheel).send()
            self.assertEqual(status, 200, problem)

    def copy_tree(self, source: Path | None = None) -> subprocess.CompletedProcess:
        return subprocess.run(["sh", self.folder / "copy-tree.sh", source or self.farm.tree, self.copy], env=self.environment,
                              capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)

    def passes(self) -> int:
        return len((self.hooks / "passes").read_text().splitlines())

    def after_a_pass(self, command: str) -> None:
        (self.hooks / "after").write_text(command + "\n")

    @staticmethod
    def contents(tree: Path) -> dict[str, bytes]:
        """What readers see: without what belongs to the publisher, and the links of find-links/ as links."""
        found = {}
        for path in sorted(tree.rglob("*")):
            name = path.relative_to(tree)
            if not any(part.startswith(".") for part in name.parts) and not path.is_dir():
                found[str(name)] = os.readlink(path).encode() if path.is_symlink() else path.read_bytes()
        return found

    def settled(self, *wheels: Path) -> None:
        self.farm.wait_for_late_pages()
        self.farm.wait_for_wheel_list(*(wheel.name for wheel in wheels))

    def test_the_copy_is_the_tree_and_pip_and_avail_wheels_read_it(self):
        kept, gone = Wheel("yard-kept", value=21).write(self.folder), Wheel("yard-gone").write(self.folder)
        self.upload(kept, gone)
        self.settled(kept, gone)
        self.assert_ran(self.copy_tree(), "every link is valid")
        current = self.copy / "current"
        self.assertEqual(self.contents(current.resolve()), self.contents(self.farm.tree))
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", current))
        self.assertFalse((current / ".wheelyard/lock").exists())
        self.assert_ran(pip_install(self.farm, "pip-new", self.folder / "target", "yard-kept",
                                    options=("--index-url", f"file://{current}/{INDEX}/simple/")))
        self.assertEqual(installed_value("pip-new", self.folder / "target", "yard_kept"), "21")
        self.assert_ran(self.farm.run("avail_wheels", "yard-kept", "--all", "--wheelhouse", current / INDEX), kept.name.split("-")[1])

        # What leaves the source leaves the copy; what stays is one file in both trees.
        self.assert_ran(self.farm.run("wheelyard-registry", "delete", INDEX, gone.name, "--reason", "wrong", "-c", self.farm.config))
        self.settled(kept)
        before = current.resolve()
        self.assert_ran(self.copy_tree())
        self.assertNotEqual(current.resolve(), before)
        copied, source = ({path: bytes_ for path, bytes_ in self.contents(tree).items() if "/simple/catalogue" not in path}
                          for tree in (current.resolve(), self.farm.tree))  # the wheel list comes when it comes
        self.assertEqual(copied, source)
        self.assertEqual(list(current.resolve().rglob(gone.name)), [])
        place = Path(INDEX) / "files" / sha256_of(kept)[:2] / sha256_of(kept) / kept.name
        self.assertTrue(os.path.samefile(before / place, current / place))

    def test_what_changes_during_a_pass_is_in_the_copy(self):
        first, late, gone = (Wheel(f"yard-during-{name}").write(self.folder) for name in ("first", "late", "gone"))
        self.upload(first, gone)
        self.settled(first, gone)
        commands = [f'"{BIN}/wheelyard-registry" import {INDEX} "{late}" -c "{self.farm.config}"',
                    f'"{BIN}/wheelyard-registry" delete {INDEX} {gone.name} --reason wrong -c "{self.farm.config}"']
        self.after_a_pass(" && ".join(commands))
        self.assert_ran(self.copy_tree())
        self.assertGreaterEqual(self.passes(), 3)
        copied = self.contents((self.copy / "current").resolve())
        self.assertTrue([path for path in copied if path.endswith("/" + late.name)])
        self.assertFalse([path for path in copied if path.endswith("/" + gone.name)])

    def test_a_copy_that_is_not_right_is_not_shown(self):
        wheel = Wheel("yard-right").write(self.folder)
        self.upload(wheel)
        self.settled(wheel)
        self.assert_ran(self.copy_tree())
        shown = (self.copy / "current").resolve()
        other = self.copy / ("b" if shown.name == "a" else "a")
        # Bytes that change on the way, under their size and time.
        self.upload(more := Wheel("yard-right", "1.1").write(self.folder))
        self.settled(wheel, more)
        self.after_a_pass(f"""find '{other}' -name '{more.name}' -path '*/files/*' | while read -r file; do
            cp -p "$file" '{self.folder}/times'; chmod u+w "$file"; printf X | dd of="$file" conv=notrunc status=none; touch -r '{self.folder}/times' "$file"
            chmod u-w "$file"; done""")
        done = self.copy_tree()
        self.assert_failed(done, "wrong_hash")
        self.assertEqual((self.copy / "current").resolve(), shown)
        # A source that does not answer.
        self.assert_failed(self.copy_tree(self.folder / "nowhere"))
        self.assertEqual((self.copy / "current").resolve(), shown)
        self.assert_ran(self.farm.run("wheelyard-indexer", "check", "--to", shown))

    def test_one_copy_runs_at_a_time(self):
        wheel = Wheel("yard-once").write(self.folder)
        self.upload(wheel)
        self.settled(wheel)
        self.after_a_pass(f"sh '{self.folder}/copy-tree.sh' '{self.farm.tree}' '{self.copy}'; echo ended $?")
        done = self.copy_tree()
        self.assert_ran(done, "ended 0")
        self.assertEqual(done.stdout.count("every link is valid"), 1)

    def test_a_private_tree_stays_private(self):
        tree = self.folder / "private"
        shutil.copytree(self.farm.tree, tree, symlinks=True)
        tree.chmod(0o700)
        self.assert_ran(self.copy_tree(tree))
        self.assertEqual(stat.S_IMODE((self.copy / "current").resolve().stat().st_mode), 0o700)


if __name__ == "__main__":
    main()
