"""`scripts/release` in a clone: what it refuses, what it writes, that the same commit gives the same bytes, and that the signature verifies."""

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.farm import COMMAND_TIMEOUT_S, ROOT

VERSION = "9.8.7"
ADDRESS = "https://forge.example/us/wheelyard"
CONTENTS = {"$schema": "https://cyclonedx.org/schema/bom-1.5.schema.json", "bomFormat": "CycloneDX",
            "components": [{"type": "library", "name": "zlib", "version": "1.3", "purl": "pkg:generic/zlib@1.3"}]}


@unittest.skipUnless(shutil.which("ssh-keygen"), "no ssh-keygen")
class ReleaseTest(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="wheelyard-release-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.clone, self.packages = self.folder / "clone", self.folder / "packages"
        self.clone.mkdir()
        self.packages.mkdir()
        self.key = self.folder / "key"
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key], check=True)
        for name in ("scripts/release", "packaging/fetch.py", "packaging/sources.toml"):
            (self.clone / name).parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / name, self.clone / name)
        for name, text in (("CMakeLists.txt", f'project(wheelyard VERSION {VERSION} HOMEPAGE_URL "{ADDRESS}" LANGUAGES CXX)\n'),
                           ("CITATION.cff", f"version: {VERSION}\n"),
                           ("packaging/release-key", "wheelyard " + self.key.with_suffix(".pub").read_text()),
                           ("scripts/package", '#!/bin/sh\necho "zlib 1.3$NEWER"\ntest -z "$NEWER"\n'),  # `sources` alone is asked
                           ("CHANGELOG.md", f"# Changelog\n\n## [{VERSION}] - 2026-12-01\n\nTen [highlights](docs/a.md#b).\n\n"
                                            "## [0.0.1] - 2026-01-01\n\nOld.\n")):
            (self.clone / name).write_text(text)
        (self.clone / "scripts/package").chmod(0o755)
        self.rebuilt(0)
        self.git("init", "-q")
        self.commit()
        for machine in ("x86_64", "aarch64"):
            with tarfile.open(self.packages / f"wheelyard-{VERSION}-portable-linux-{machine}.tar.xz", "w:xz") as tar:
                for name, data in (("bin/avail_wheels", machine.encode()), ("share/doc/wheelyard/wheelyard.cdx.json", json.dumps(CONTENTS).encode())):
                    info = tarfile.TarInfo(f"wheelyard-{VERSION}-portable-linux-{machine}/{name}")
                    info.size = len(data)
                    tar.addfile(info, io.BytesIO(data))
        names = [f"{name}-{VERSION}-py3-none-manylinux_2_17_{machine}.whl" for name in ("wheelyard", "avail_wheels") for machine in ("x86_64", "aarch64")]
        names += [f"{name}_{VERSION}_amd64.deb" for name in ("wheelyard-registry", "wheelyard-agent", "avail-wheels")] + [f"wheelyard-{VERSION}.eb"]
        for name in [*names, "wheelyard-9.8.6-py3-none-manylinux_2_17_x86_64.whl"]:
            (self.packages / name).write_text(name)
        self.note_packages()

    def rebuilt(self, count: int) -> None:
        path = self.clone / "packaging/sources.toml"
        path.write_text(re.sub(r"^rebuild = \d+$", f"rebuild = {count}", path.read_text(), flags=re.MULTILINE))

    def note_packages(self) -> None:
        """As scripts/package does."""
        head = subprocess.run(["git", "-C", self.clone, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        (self.packages / "made.json").write_text(json.dumps({
            path.name: {"commit": head, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()} for path in self.packages.iterdir()}))

    def git(self, *words: str) -> None:
        subprocess.run(["git", "-C", self.clone, "-c", "user.name=x", "-c", "user.email=x@example.org", *words], check=True, capture_output=True)

    def commit(self) -> None:
        self.git("add", "-A")
        self.git("commit", "-qm", "x")
        self.tag("--sign")

    def tag(self, how: str) -> None:
        self.git("-c", "gpg.format=ssh", "-c", f"user.signingkey={self.key}", "tag", "--force", how, "-m", "x", f"v{VERSION}")

    def release(self, *words, **environment: str) -> subprocess.CompletedProcess:
        """Without a terminal, which a passphrase would be asked for on."""
        return subprocess.run([self.clone / "scripts/release", *map(str, words), "--packages", self.packages], capture_output=True, text=True,
                              env=os.environ | environment, stdin=subprocess.DEVNULL, start_new_session=True, timeout=COMMAND_TIMEOUT_S)

    def test_everything_that_is_missing_is_refused_at_once_and_nothing_is_written(self):
        (self.clone / "new.txt").write_text("x")
        done = self.release("1.2.3", "--out", self.folder / "out", "--compare", self.folder, "--key", self.folder / "no-key")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        for phrase in ("not clean: new.txt", f"CMakeLists.txt with packaging/sources.toml names version {VERSION}", "CITATION.cff", "no section `## [1.2.3]",
                       f"{self.folder} has no SHA256SUMS", "no-key signs nothing here", "no tag v1.2.3", "has no wheelyard-1.2.3.eb"):
            self.assertIn(phrase, done.stderr)
        self.assertFalse((self.folder / "out").exists())
        again = self.release(VERSION, "--out", self.packages, "--key", "nobody-has-this-key")
        for phrase in (f"{self.packages} exists", "nobody-has-this-key signs nothing here"):
            self.assertIn(phrase, again.stderr)

    def test_placeholders_an_unfinished_section_packages_of_another_commit_and_no_key_are_refused(self):
        (self.clone / "README.md").write_text(f"Version {VERSION} is being prepared.\n")
        (self.clone / "packaging/control").write_text("Maintainer: Us <us@wheelyard.invalid>\n")
        log = self.clone / "CHANGELOG.md"
        log.write_text(log.read_text().replace("2026-12-01", "in preparation"))
        self.commit()  # the packages are of the commit before
        (self.packages / f"wheelyard-{VERSION}.eb").write_text("changed")
        done = self.release(VERSION, "--check")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        for phrase in ("no key:", "README.md:1 says", "packaging/control:1 has a placeholder for an address: us@wheelyard.invalid", "instead of a date",
                       f"wheelyard-registry_{VERSION}_amd64.deb is of "):
            self.assertIn(phrase, done.stderr)
        self.note_packages()
        (self.packages / f"avail-wheels_{VERSION}_amd64.deb").unlink()
        (self.packages / f"wheelyard-{VERSION}.eb").write_text("changed again")
        again = self.release(VERSION, "--check").stderr
        self.assertIn(f"has no avail-wheels_{VERSION}_*.deb", again)
        self.assertIn(f"wheelyard-{VERSION}.eb has changed since", again)
        self.assertNotIn("wheelyard-registry", again)
        noted = json.loads((self.packages / "made.json").read_text())
        del noted[f"wheelyard-registry_{VERSION}_amd64.deb"]["commit"]  # of programs that do not say theirs
        (self.packages / "made.json").write_text(json.dumps(noted))
        self.assertIn(f"wheelyard-registry_{VERSION}_amd64.deb is of an unknown commit", self.release(VERSION, "--check").stderr)
        nowhere = subprocess.run([self.clone / "scripts/release", VERSION, "--packages", self.folder / "nowhere"], capture_output=True, text=True)
        self.assertIn("nowhere is no folder", nowhere.stderr)
        self.assertNotIn("Traceback", nowhere.stderr)

    def check(self, key: Path | None = None, **environment: str) -> str:
        done = self.release(VERSION, "--check", "--key", key or self.key, **environment)
        self.assertEqual(done.returncode, 1)
        self.assertNotIn("Traceback", done.stderr)
        return done.stderr

    def test_a_key_that_cannot_sign_here_or_that_users_do_not_have_is_refused(self):
        readme = self.clone / "README.md"
        readme.write_text("No key.\n")
        self.commit()
        self.note_packages()
        self.assertIn(f"{readme} signs nothing here", self.check(readme))
        guarded, other = self.folder / "guarded", self.folder / "other"
        for path, passphrase in ((guarded, "secret"), (other, "")):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-f", path], check=True)
        self.assertIn("Its passphrase is asked for on a terminal", self.check(guarded, SSH_AUTH_SOCK="", SSH_ASKPASS="", DISPLAY=""))
        self.assertIn(f"packaging/release-key does not verify what {other} signs", self.check(other))

    def test_a_day_that_there_is_not_an_unsigned_tag_a_library_with_a_fix_and_no_address_are_refused(self):
        for name, old, new in (("CHANGELOG.md", "2026-12-01", "2026-02-31"), ("CMakeLists.txt", ADDRESS, "https://wheelyard.invalid")):
            path = self.clone / name
            path.write_text(path.read_text().replace(old, new))
        self.commit()
        self.note_packages()
        self.tag("--annotate")
        refused = self.check(NEWER=", newer: 1.4")
        for phrase in ("`## [9.8.7] - 2026-02-31` instead of a date", "v9.8.7 has no signature", "zlib 1.3, newer: 1.4: scripts/package rebuild",
                       "the project's address is https://wheelyard.invalid"):
            self.assertIn(phrase, refused)
        self.assertEqual(self.release(VERSION, "--address", ADDRESS + "/").stdout, "CMakeLists.txt\n")
        self.assertNotIn("the project's address", self.check())

    def test_a_rebuild_is_a_version_of_its_own(self):
        self.rebuilt(2)
        self.assertIn("packaging/sources.toml names version 9.8.7.post2, not 9.8.7\n", self.check())

    def test_a_check_of_a_whole_tree_finds_nothing_and_makes_nothing(self):
        done = self.release(VERSION, "--check", "--key", self.key, "--out", self.folder / "out")
        self.assertEqual((done.returncode, done.stdout), (0, "nothing is missing\n"), done.stderr)
        self.assertFalse((self.folder / "out").exists())

    def test_the_same_commit_gives_the_same_bytes_and_another_one_does_not(self):
        first = self.folder / "first"
        done = self.release(VERSION, "--out", first, "--key", self.key)
        self.assertEqual(done.returncode, 0, done.stderr)
        packages = {path.name for path in self.packages.iterdir()} - {"made.json", "wheelyard-9.8.6-py3-none-manylinux_2_17_x86_64.whl"}
        self.assertEqual({path.name for path in first.iterdir()}, packages | {
            "SHA256SUMS", "SHA256SUMS.sig", "release-key", f"wheelyard-{VERSION}-notes.md", f"wheelyard-{VERSION}.cdx.json", f"wheelyard-{VERSION}.tar.xz"})
        self.assertEqual((first / f"wheelyard-{VERSION}-notes.md").read_text(), f"Ten [highlights]({ADDRESS}/blob/v{VERSION}/docs/a.md#b).\n")
        contents = json.loads((first / f"wheelyard-{VERSION}.cdx.json").read_text())
        self.assertEqual([each["name"] for each in contents["components"]], ["avail_wheels", "avail_wheels", "zlib"])
        subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=first, check=True)
        with tarfile.open(first / f"wheelyard-{VERSION}.tar.xz") as tar:
            self.assertIn(f"wheelyard-{VERSION}/CHANGELOG.md", tar.getnames())
        again = self.release(VERSION, "--out", self.folder / "second", "--compare", first, "--key", self.key)
        self.assertEqual(again.returncode, 0, again.stderr)
        (self.clone / "more.txt").write_text("x")
        self.commit()
        self.note_packages()
        other = self.release(VERSION, "--out", self.folder / "third", "--compare", first, "--key", self.key)
        self.assertEqual(other.returncode, 1)
        self.assertIn(f"wheelyard-{VERSION}.tar.xz", other.stderr)

    def assert_verifies_until_changed(self, out: Path, done: subprocess.CompletedProcess, environment: dict[str, str]) -> None:
        """As the release prints it, also beside one of its files alone."""
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = re.findall(r"^verify: (.*)$", done.stdout, re.MULTILINE)
        self.assertEqual(len(printed), 2, done.stdout)
        (out / f"wheelyard-{VERSION}.tar.xz").unlink()
        for command in printed:
            subprocess.run(command, shell=True, cwd=out, env=environment, check=True, capture_output=True)
        sums = out / "SHA256SUMS"
        sums.write_text(sums.read_text().replace("avail", "prevail"))
        (out / f"wheelyard-{VERSION}.eb").write_text("changed")
        for command in printed:
            self.assertNotEqual(subprocess.run(command, shell=True, cwd=out, env=environment, capture_output=True).returncode, 0, command)

    def test_the_signature_of_a_key_of_ssh_verifies_also_after_a_run_that_broke(self):
        out = self.folder / "out"
        unfinished = self.folder / "out.unfinished"
        unfinished.mkdir()
        for name in ("SHA256SUMS.sig", "half"):
            (unfinished / name).write_text("x")
        self.assert_verifies_until_changed(out, self.release(VERSION, "--out", out, "--key", self.key), dict(os.environ))
        self.assertFalse((out / "half").exists() or unfinished.exists())

    @unittest.skipUnless(shutil.which("gpg") and shutil.which("gpgconf"), "no gpg")
    def test_the_signature_of_a_key_that_gpg_has_verifies_as_the_release_prints_it(self):
        home = self.folder / "gpg"  # a short path: gpg's agent listens on a socket there
        home.mkdir(mode=0o700)
        environment = os.environ | {"GNUPGHOME": str(home)}
        self.addCleanup(subprocess.run, ["gpgconf", "--kill", "all"], env=environment, check=True)
        subprocess.run(["gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "releaser@example.org", "ed25519", "sign", "never"],
                       env=environment, check=True, capture_output=True, timeout=COMMAND_TIMEOUT_S)
        exported = subprocess.run(["gpg", "--armor", "--export", "releaser@example.org"], env=environment, check=True, capture_output=True, text=True)
        (self.clone / "packaging/release-key").write_text(exported.stdout)
        self.commit()
        self.note_packages()
        out = self.folder / "out"
        self.assert_verifies_until_changed(out, self.release(VERSION, "--out", out, "--key", "releaser@example.org", GNUPGHOME=str(home)), environment)


if __name__ == "__main__":
    main()
