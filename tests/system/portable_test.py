"""The portable programs in a root that has them and nothing else: they start, find the certificates of each distribution, and
read an index through HTTPS by the host's name and through a proxy. On another machine's programs qemu does the same.

Label `full`: needs root, and what `scripts/package portable` made.

    WHEELYARD_PACKAGES=build/package python3 tests/system/portable_test.py
"""

import os
import platform
import shutil
import ssl
import subprocess
import tempfile
import unittest
from pathlib import Path

from support.case import main
from support.certificate import make_certificate
from support.connect_proxy import ConnectProxy
from support.farm import COMMAND_TIMEOUT_S, INDEX
from support.foreign_programs import emulator
from support.hardening import EM_X86_64, ENDBR64, Program, link_lacks
from support.packages import PACKAGES, tarball
from support.skips import not_here
from support.upstream import Upstream
from support.wheels import Wheel

PROGRAMS = ("avail_wheels", "wheelyard-builder", "wheelyard-governor", "wheelyard-indexer", "wheelyard-registry")
MACHINES = ("x86_64", "aarch64")
HOST, FAR_HOST = "wheels.test", "far.test"  # /etc/hosts of the root has the first; only the proxy knows the second
BUNDLES = ("etc/ssl/certs/ca-certificates.crt", "etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "etc/pki/tls/certs/ca-bundle.crt",
           "var/lib/ca-certificates/ca-bundle.pem", "etc/ssl/ca-bundle.pem")


class EmptyRoot:
    """The tarball, unpacked; `run` starts one of its programs there."""

    def __init__(self, machine: str, folder: Path):
        self.folder = folder
        subprocess.run(["tar", "-xf", tarball(machine), "-C", folder, "--strip-components=1"], check=True)
        self.emulator = []
        if machine != platform.machine():
            shutil.copy(emulator(machine), folder / "emulator")
            self.emulator = ["/emulator"]
        for each in ("etc", "home"):
            (folder / each).mkdir()
        (folder / "etc/hosts").write_text(f"127.0.0.1 localhost {HOST}\n")

    def run(self, program: str, *words: str, **environment: str) -> subprocess.CompletedProcess:
        return subprocess.run(["/usr/sbin/chroot", self.folder, *self.emulator, f"/bin/{program}", *words],
                              env={"PATH": "/bin", "HOME": "/home"} | environment, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)


class PortableTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(tempfile.mkdtemp(prefix="wheelyard-portable-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.roots = {}
        for machine in MACHINES:
            if tarball(machine):
                (cls.folder / machine).mkdir()
                cls.roots[machine] = EmptyRoot(machine, cls.folder / machine)
        cls.certificates = {}
        for host in (HOST, FAR_HOST):
            (cls.folder / host).mkdir()
            make_certificate(cls.folder / host, host)

    def setUp(self):
        for root in self.roots.values():
            shutil.rmtree(root.folder / "home")
            (root.folder / "home").mkdir()

    def start_upstream(self, host: str) -> Upstream:
        """An index of one wheel behind HTTPS with the certificate of `host`."""
        upstream = Upstream()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / host / "chain.pem", self.folder / host / "key.pem")
        upstream.server.socket = context.wrap_socket(upstream.server.socket, server_side=True, do_handshake_on_connect=False)
        self.enterContext(upstream)
        upstream.offer(Wheel("yard-six").write(self.folder))
        return upstream

    def ask(self, root: EmptyRoot, host: str, port: int, **environment: str) -> subprocess.CompletedProcess:
        return root.run("avail_wheels", "yard-six", "--refresh", "--index-url", f"https://{host}:{port}/simple/", **environment)

    def assert_listed(self, done: subprocess.CompletedProcess):
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("yard_six", done.stdout)

    def test_each_program_starts_without_any_other_file(self):
        for machine, root in self.roots.items():
            with self.subTest(machine=machine):
                for program in PROGRAMS:
                    done = root.run(program, "-V" if program == "avail_wheels" else "--version")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn(program, done.stdout)

    def test_no_program_asks_for_a_c_library_so_the_glibc_of_a_distribution_does_not_count(self):
        for machine, root in self.roots.items():
            for name in PROGRAMS:
                with self.subTest(machine=machine, program=name):
                    shown = subprocess.run(["readelf", "--dynamic", "--version-info", "--wide", root.folder / "bin" / name], check=True,
                                           capture_output=True, text=True, env={"PATH": os.environ["PATH"], "LC_ALL": "C"}).stdout
                    self.assertNotIn("(NEEDED)", shown)
                    self.assertNotIn("GLIBC_", shown)

    def test_each_program_is_hardened_as_distributions_harden_theirs(self):
        for machine, root in self.roots.items():
            for name in PROGRAMS:
                with self.subTest(machine=machine, program=name):
                    program = Program((root.folder / "bin" / name).read_bytes())
                    self.assertEqual(link_lacks(program), [])
                    if program.machine == EM_X86_64:  # libc's and libc++'s own have none
                        self.assertGreater(program.data.count(ENDBR64), 1_000)

    def test_the_certificates_of_each_distribution_are_found_and_a_server_without_one_is_refused(self):
        upstream = self.start_upstream(HOST)
        for machine, root in self.roots.items():
            with self.subTest(machine=machine):
                refused = self.ask(root, HOST, upstream.port)
                self.assertNotEqual(refused.returncode, 0, refused.stdout)
                self.assertIn("certificate", refused.stderr)
                for bundle in BUNDLES:
                    with self.subTest(bundle=bundle):
                        path = root.folder / bundle
                        path.parent.mkdir(parents=True, exist_ok=True)
                        shutil.copy(self.folder / HOST / "chain.pem", path)
                        self.assert_listed(self.ask(root, HOST, upstream.port))
                        path.unlink()
                shutil.copy(self.folder / HOST / "chain.pem", root.folder / "home/own.pem")
                self.assert_listed(self.ask(root, HOST, upstream.port, SSL_CERT_FILE="/home/own.pem"))

    def test_a_proxy_leads_to_a_host_whose_name_the_root_does_not_know(self):
        upstream = self.start_upstream(FAR_HOST)
        for machine, root in self.roots.items():
            with self.subTest(machine=machine):
                shutil.copy(self.folder / FAR_HOST / "chain.pem", root.folder / "home/own.pem")
                with ConnectProxy({FAR_HOST: "127.0.0.1"}) as proxy:
                    self.assert_listed(self.ask(root, FAR_HOST, upstream.port, SSL_CERT_FILE="/home/own.pem", https_proxy=proxy.url))
                self.assertIn(f"{FAR_HOST}:{upstream.port}", proxy.opened)

    def test_the_registry_accepts_a_wheel_and_another_program_reads_it(self):
        for machine, root in self.roots.items():
            with self.subTest(machine=machine):
                Wheel("yard-six").write(root.folder / "home")
                (root.folder / "home/registry.toml").write_text(
                    f'config_version = 1\n[server]\nlisten = "127.0.0.1:0"\n[store]\ndirectory = "data"\nmin_free_mib = 1\n[[index]]\nname = "{INDEX}"\n')
                for words in (("wheelyard-registry", "import", "--config", "/home/registry.toml", INDEX, "/home/yard_six-1.0-py3-none-any.whl"),
                              ("wheelyard-registry", "verify", "--config", "/home/registry.toml"),
                              ("wheelyard-indexer", "check", "--to", "/home/data/public"),
                              ("wheelyard-registry", "check", "/home/yard_six-1.0-py3-none-any.whl")):
                    done = root.run(*words)
                    self.assertEqual(done.returncode, 0, f"{words}\n{done.stdout}{done.stderr}")

    def test_each_library_inside_has_its_licence_and_its_version(self):
        for machine, root in self.roots.items():
            with self.subTest(machine=machine):
                documents = root.folder / "share/doc/wheelyard"
                listed = (documents / "wheelyard.cdx.json").read_text()
                for path in (documents / "licences").glob("*.txt"):
                    self.assertGreater(path.stat().st_size, 0)
                for name in ("openssl", "curl", "libarchive", "zlib", "libzstd", "sqlite3", "musl", "libc++"):
                    self.assertIn(f'"name": "{name}"', listed)
                    self.assertTrue((documents / "licences" / f"{name}.txt").is_file(), name)


if __name__ == "__main__":
    if os.geteuid() != 0 or not any(map(tarball, MACHINES)):
        not_here(f"{PACKAGES} has no portable tarball, or this is not root; scripts/package portable")
    main()
