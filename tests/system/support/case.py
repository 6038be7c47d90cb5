"""The test case that the system tests derive from: a farm per class or per test, and assertions in the product's words."""

import shutil
import signal
import sys
import tempfile
import unittest
from pathlib import Path

from support.clients import RawUpload
from support.farm import INDEX, Farm


class FarmCase(unittest.TestCase):
    """One running registry for all tests of the class; each test has a folder of its own."""

    indexes: tuple[str, ...] = (INDEX,)
    index_settings = ""  # more lines of every [[index]]
    farm: Farm
    token: str

    @classmethod
    def setUpClass(cls):
        cls.farm = Farm(cls.indexes, index_settings=cls.index_settings)
        cls.addClassCleanup(cls.farm.__exit__)  # also when the set-up fails; SIGTERM, and what a sanitizer found
        cls.token = cls.farm.create_token()
        cls.farm.start()

    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-case-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def assert_ran(self, done, *phrases: str):
        """A program succeeded and said each phrase."""
        self.assertEqual(done.returncode, 0, f"{done.args}\n{done.stdout}\n{done.stderr}")
        for phrase in phrases:
            self.assertIn(phrase, done.stdout + done.stderr)

    def assert_failed(self, done, *phrases: str):
        """A program refused and said each phrase."""
        self.assertNotEqual(done.returncode, 0, f"{done.args}\n{done.stdout}\n{done.stderr}")
        for phrase in phrases:
            self.assertIn(phrase, done.stdout + done.stderr)

    def assert_refused(self, upload: RawUpload, status: int, code: str, *phrases: str):
        """The registry answers `status` with a problem document of `code` that contains each phrase."""
        found_status, problem = upload.send()
        self.assertEqual(found_status, status, problem)
        self.assertEqual(problem.get("status"), status, problem)
        self.assertEqual(problem.get("code"), code, problem)
        for phrase in phrases:
            self.assertIn(phrase, str(problem))
        for part in ("title", "detail", "advice"):
            self.assertTrue(problem.get(part), f"the refusal has no {part}: {problem}")


class OwnFarmsCase(FarmCase):
    """Each test starts the registries that it needs."""

    @classmethod
    def setUpClass(cls):
        pass


class FarmPerTestCase(OwnFarmsCase):
    """A running registry for each test."""

    def setUp(self):
        super().setUp()
        self.farm = Farm(self.indexes)
        self.addCleanup(self.farm.__exit__)
        self.farm.start()

    def apply(self, *options: str):
        return self.farm.run("wheelyard-registry", "apply", "-c", self.farm.config, *options)

    def set_index(self, name: str, keys: str = ""):
        """The file has this index, with these keys alone, and is applied."""
        self.farm.set_index(name, keys)
        return self.apply()


class Ended(Exception):
    """A signal ends the test: what it has started is stopped, as after any test, and no other test begins."""


class _Result(unittest.TextTestResult):
    def addError(self, test, err):
        super().addError(test, err)
        self.heed(err)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        self.heed(err)

    def heed(self, err) -> None:
        if err is not None and issubclass(err[0], Ended):
            self.failfast = True  # also in the middle of subtests
            self.stop()


class _Runner(unittest.TextTestRunner):
    resultclass = _Result


ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def _end(number: int, _) -> None:
    for one in ENDING_SIGNALS:
        signal.signal(one, lambda *_: None)  # once is enough
    raise Ended(signal.Signals(number).name)


def main() -> None:
    for number in ENDING_SIGNALS:
        signal.signal(number, _end)
    unittest.main(module=sys.modules["__main__"], verbosity=2, testRunner=_Runner)
