#!/usr/bin/env python3
"""`ctest -R docs-figures-detects`: bench/results.py writes what it reads and refuses the rest, and scripts/generate-figures --check
detects a page that differs."""

import argparse
import copy
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import results

RESULT = {
    "format": "wheelyard.bench/1", "question": "a-page", "title": "A page", "date": "2026-11-22", "machine": "2 cores",
    "command": "bench/a_page.py --rounds 3", "recorded": "by the bench", "commit": "0123abc+changes",
    "rows": [{"measured": "64 connections", "unit": "ms", "better": "lower", "ours": 1.5, "runs": 3,
              "peer": {"name": "nginx", "value": 3}, "ratio": 0.5, "spread": [0.4, 0.6]},
             {"measured": "memory", "unit": "KiB", "better": "lower", "ours": 4.8, "runs": 1}],
    "notes": ["Größe."],
}
ABSENT = object()
REJECTED = [  # path, value, the complaint
    (("format",), "wheelyard.bench/2", "a-page.format: must be 'wheelyard.bench/1'"),
    (("question",), "another-page", "a-page.question: must be 'a-page', as the file is called"),
    (("title",), "", "a-page.title: must be a str, not ''"),
    (("machine",), ABSENT, "a-page: member 'machine' is missing"),
    (("hostname",), "x", "a-page: unknown member 'hostname'"),
    (("date",), "22.11.2026", "a-page.date: must be YYYY-MM-DD"),
    (("recorded",), "by ear", "a-page.recorded: must be 'by the bench' or 'by hand from the lab notes'"),
    (("commit",), "main", "a-page.commit: must be a git commit"),
    (("notes",), [1], "a-page.notes: must be sentences"),
    (("rows",), [], "a-page.rows: must have a row"),
    (("rows",), ["fast"], "a-page.rows[0]: must be an object"),
    (("rows", 0, "better"), "faster", "a-page.rows[0].better: must be 'lower' or 'higher'"),
    (("rows", 0, "ours"), "1.5", "a-page.rows[0].ours: must be a float, not '1.5'"),
    (("rows", 0, "ours"), float("nan"), "a-page.rows[0].ours: must be a float, not nan"),
    (("rows", 0, "ours"), True, "a-page.rows[0].ours: must be a float, not True"),
    (("rows", 0, "runs"), 0, "a-page.rows[0].runs: must be at least 1"),
    (("rows", 0, "peer"), {"name": "nginx"}, "a-page.rows[0].peer: member 'value' is missing"),
    (("rows", 0, "spread"), [0.6, 0.7], "a-page.rows[0].spread: must hold the ratio"),
    (("rows", 0, "spread"), [0.4], "a-page.rows[0].spread: must be two numbers"),
    (("rows", 1, "ratio"), 2, "a-page.rows[1].ratio: needs a peer"),
]


def changed(path: tuple, value: object) -> dict:
    result = copy.deepcopy(RESULT)
    inner = result
    for step in path[:-1]:
        inner = inner[step]
    if value is ABSENT:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return result


class ResultsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "results"

    def test_what_is_written_is_read(self):
        path = results.write(self.folder, RESULT)
        self.assertEqual(results.read(path), RESULT)
        self.assertEqual([one.name for one in self.folder.iterdir()], ["a-page.json"])  # no temporary file

    def test_a_malformed_result_is_refused_with_its_member(self):
        self.folder.mkdir()
        path = self.folder / "a-page.json"
        for where, value, complaint in REJECTED:
            with self.subTest(where=where, value=value):
                path.write_text(json.dumps(changed(where, value)))
                with self.assertRaises(results.Malformed) as caught:
                    results.read(path)
                self.assertEqual(str(caught.exception), complaint)

    def test_half_a_file_is_refused(self):
        path = results.write(self.folder, RESULT)
        path.write_text(path.read_text()[:100])
        with self.assertRaisesRegex(results.Malformed, "^a-page: not JSON: "):
            results.read(path)

    def test_a_malformed_result_replaces_nothing(self):
        path = results.write(self.folder, RESULT)
        with self.assertRaises(results.Malformed):
            results.write(self.folder, RESULT | {"rows": []})
        self.assertEqual(results.read(path), RESULT)
        self.assertEqual(list(self.folder.iterdir()), [path])

    def test_a_row_has_medians_and_the_median_of_the_pairs(self):
        self.assertEqual(results.row("page", "ms", "lower", [1, 2, 6], "nginx", [2, 2, 3]),
                         {"measured": "page", "unit": "ms", "better": "lower", "ours": 2, "runs": 3,
                          "peer": {"name": "nginx", "value": 2}, "ratio": 1, "spread": [0.5, 2]})
        self.assertEqual(results.row("page", "ms", "lower", 1, "nothing", 0),
                         {"measured": "page", "unit": "ms", "better": "lower", "ours": 1, "runs": 1, "peer": {"name": "nothing", "value": 0}})
        with self.assertRaises(ValueError):
            results.row("page", "ms", "lower", [1, 2], "nginx", [1])

    def test_a_command_names_no_path_of_the_machine(self):
        arguments = ["/somewhere/bench/http_page.py", "--record", "--results-dir", "/tmp/out", f"--build={ROOT}/build", "--folder", "/mnt/disk",
                     "--only", "a b", "/x", "--cores", "2", "--opt", "-O1", "--quick"]
        with mock.patch.dict("os.environ", {"WHEELYARD_BIN": "/opt/bin"}):
            self.assertEqual(results.command_line(arguments), "WHEELYARD_BIN=BIN bench/http_page.py --build=build --folder FOLDER "
                                                              "--only 'a b' ONLY --cores 2 --opt -O1 --quick")

    def test_a_bench_records_only_when_asked(self):
        for asked in ([], ["--record"]):
            with mock.patch.object(sys, "argv", ["bench/x.py", *asked, "--results-dir", str(self.folder)]), mock.patch("builtins.print"):
                options = results.parse_arguments(argparse.ArgumentParser())
                results.record(options, "a-page", "A page", RESULT["rows"], ["One note."])
            self.assertEqual((self.folder / "a-page.json").exists(), bool(asked))
        found = results.read(self.folder / "a-page.json")
        self.assertEqual((found["recorded"], found["command"], found["notes"]), ("by the bench", "bench/x.py", ["One note."]))


class FiguresTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.page = Path(folder.name) / "results", Path(folder.name) / "figures.md"
        results.write(self.folder, RESULT)

    def generate(self, *arguments):
        return subprocess.run([sys.executable, "-B", ROOT / "scripts" / "generate-figures", "--results-dir", self.folder,
                               "--document", self.page, *arguments], capture_output=True, text=True)

    def test_the_page_has_each_row_with_machine_date_and_command(self):
        self.assertEqual(self.generate("--write").returncode, 0)
        page = self.page.read_text()
        self.assertIn("| 64 connections | ms | ↓ | 1.5 | nginx: 3 | 0.5 (0.4–0.6) | 3 |\n"
                      "| memory | KiB | ↓ | 4.8 |  |  | 1 |\n", page)
        self.assertIn("\n2026-11-22, commit 0123abc+changes; 2 cores. Recorded by the bench.\n\n    bench/a_page.py --rounds 3\n\n- Größe.\n", page)
        self.assertEqual(self.generate("--check").returncode, 0)

    def test_check_detects_a_page_that_differs(self):
        self.generate("--write")
        written = self.page.read_text()
        results.write(self.folder, changed(("rows", 0, "ours"), 1.6))
        stale = self.generate("--check")
        self.assertEqual((stale.returncode, stale.stdout),
                         (1, "figures.md is not what bench/results/ says: run scripts/generate-figures --write\n"))
        self.assertEqual(self.page.read_text(), written)  # --check writes nothing
        self.page.unlink()
        self.assertEqual(self.generate("--check").returncode, 1)

    def test_a_malformed_result_is_named_and_the_page_stays(self):
        self.generate("--write")
        written = self.page.read_text()
        (self.folder / "b-page.json").write_text("{}")
        done = self.generate("--write")
        self.assertEqual((done.returncode, done.stdout), (1, "generate-figures: b-page: member 'format' is missing\n"))
        self.assertEqual(self.page.read_text(), written)


if __name__ == "__main__":
    unittest.main()
