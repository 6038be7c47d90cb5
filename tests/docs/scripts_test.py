#!/usr/bin/env python3
"""`ctest -R docs-scripts`: every command in scripts/ answers --help, whatever else it is given, at once and without doing anything else."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
LIMIT_S = 20


class ScriptsTest(unittest.TestCase):
    def test_every_command_answers_help(self):
        commands = sorted(path for path in SCRIPTS.iterdir() if path.is_file() and os.access(path, os.X_OK))
        self.assertTrue(commands)
        # Without the programs by which one would install, download or compile.
        with tempfile.TemporaryDirectory() as folder:
            for program in ("env", "bash", "dirname", "sed", "cat", "git"):
                (Path(folder) / program).symlink_to(next(found for found in (Path("/usr/bin") / program, Path("/bin") / program)
                                                         if found.exists()))
            (Path(folder) / "python3").symlink_to(sys.executable)
            for command in commands:
                with self.subTest(command.name):
                    done = subprocess.run([command, "--help"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S,
                                          env={"PATH": folder, "HOME": folder})
                    self.assertEqual((done.returncode, done.stderr), (0, ""))
                    self.assertIn(command.name, done.stdout)
                    self.assertGreater(len(done.stdout.splitlines()), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
