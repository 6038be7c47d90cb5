"""The server under systemd: what it tells systemd (sd_notify(3)), the exit status that no restart follows, and the unit."""

import os
import pwd
import re
import shutil
import socket
import subprocess
import unittest
from pathlib import Path

from support.case import OwnFarmsCase, main
from support.farm import BIN, COMMAND_TIMEOUT_S, ROOT, START_TIMEOUT_S, Farm, for_all_users
from support.ports import free_port

UNIT = ROOT / "docs/reference/wheelyard-registry.service"
SERVICE = 65534
SEARCHED = ("wheelyard-registry",)


def privileged_port() -> int:
    first_free = int(Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())
    if first_free < 2:
        raise unittest.SkipTest("here everybody may listen on every port")
    return first_free - 1


class ServiceUnitTest(OwnFarmsCase):
    def setUp(self):
        super().setUp()
        self.folder.chmod(0o755)

    def farm(self, **settings) -> Farm:
        return self.enterContext(Farm(**settings))

    def configured(self, listen: str = "127.0.0.1:0", store: str = "data", more: str = "") -> Path:
        config = self.folder / "registry.toml"
        config.write_text(f'config_version = 1\n[server]\nlisten = "{listen}"\n[store]\ndirectory = "{store}"\n[[index]]\nname = "main"\n{more}')
        return config

    def serve(self, config: Path, *options: str, path: str = "") -> subprocess.CompletedProcess:
        """As another user than root, to its end."""
        user = {"user": SERVICE, "group": SERVICE, "extra_groups": []} if os.geteuid() == 0 and not path else {}
        programs = for_all_users(BIN, *SEARCHED) if user else BIN
        return subprocess.run([programs / "wheelyard-registry", "serve", *options, "--config", config], capture_output=True, text=True,
                              timeout=COMMAND_TIMEOUT_S, env=os.environ | ({"PATH": f"{path}:{os.environ['PATH']}"} if path else {}), **user)

    def test_systemd_is_told_when_requests_are_answered_and_to_wait_before(self):
        for name in (str(self.folder / "notify"), f"@wheelyard-{os.getpid()}"):
            with self.subTest(name), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
                manager.bind(name.replace("@", "\0", 1) if name.startswith("@") else name)
                manager.settimeout(START_TIMEOUT_S)
                farm = self.farm()
                farm.write_config(free_port())
                farm.launch(environment={"NOTIFY_SOCKET": name})
                told = [manager.recv(4096).decode()]
                self.assertRegex(told[0], r"\AEXTEND_TIMEOUT_USEC=\d+\Z")
                while not told[-1].startswith("READY=1"):
                    told.append(manager.recv(4096).decode())
                port = int(re.search(r"\nSTATUS=listening on http://127.0.0.1:(\d+)", told[-1])[1])
                socket.create_connection(("127.0.0.1", port), START_TIMEOUT_S).close()
                farm.stop()
                self.assertEqual(manager.recv(4096), b"STOPPING=1")  # and nothing since READY=1

    def test_a_wrong_configuration_has_an_exit_status_of_its_own(self):
        (self.folder / "store").mkdir(mode=0o555)
        user = pwd.getpwuid(os.geteuid() or SERVICE).pw_name
        config = self.folder / "registry.toml"
        rows = {
            "no file": (lambda: config, f"wheelyard-registry init {self.folder}"),
            "no TOML": (lambda: config.write_text("[store\n") and config, "registry.toml:1:7"),
            "an unknown key": (lambda: self.configured(more="colour = 1\n"), "colour"),
            "no address": (lambda: self.configured(listen="localhost:0"), "not an IP address"),
            "a port of root's": (lambda: self.configured(listen=f"127.0.0.1:{privileged_port()}"), "CAP_NET_BIND_SERVICE"),
            "a folder that is not there": (lambda: self.configured(listen=f"unix:{self.folder}/none/http.sock"), "none/http.sock"),
            "a store that cannot be made": (lambda: self.configured(store="store/new"), f"install -d -o {user} -m 711 {self.folder}/store/new"),
            "a store that may not be written": (lambda: self.configured(store="store"), f"chown -R {user} {self.folder}/store"),
            "a file in place of the store": (lambda: self.configured(store="registry.toml"), "Not a directory"),
            "a key that is not there": (lambda: self.configured(more='[attest]\nkey = "none.key"\n'), "none.key"),
        }
        for name, (make, phrase) in rows.items():
            with self.subTest(name):
                made = make()
                for options in ((), ("--check",)):
                    done = self.serve(made, *options)
                    self.assertEqual(done.returncode, 2, f"{options} {done.stdout}{done.stderr}")
                    self.assertIn(phrase, done.stderr)
                config.unlink(missing_ok=True)

    def test_paths_are_relative_to_the_configuration(self):
        config = self.configured(listen="unix:http.sock")
        done = subprocess.run([BIN / "wheelyard-registry", "serve", "--check", "-c", config.name], cwd=self.folder, capture_output=True,
                              text=True, timeout=COMMAND_TIMEOUT_S)
        self.assert_ran(done, "good")

    def test_what_may_pass_is_tried_again(self):
        self.folder.chmod(0o777)
        with socket.create_server(("127.0.0.1", 0)) as other:
            done = self.serve(self.configured(listen=f"127.0.0.1:{other.getsockname()[1]}"))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn("another program uses it", done.stderr)
            self.assertEqual(self.serve(self.configured(listen=f"127.0.0.1:{other.getsockname()[1]}"), "--check").returncode, 0)
        self.assertEqual(self.serve(Path("/proc/self/mem")).returncode, 1)  # EIO, as of a server of files that is away
        absent = f'[stores]\ndatabase = "postgres://nobody@127.0.0.1:{free_port()}/none"\n'
        done = self.serve(self.configured(more=absent))
        self.assertEqual(done.returncode, 1, done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root's check is about another user's server")
    def test_the_check_of_root_judges_by_the_unit(self):
        store = self.folder / "srv"
        store.mkdir()
        os.chown(store, SERVICE, SERVICE)
        properties = {"User": "nobody", "ProtectSystem": "strict", "ReadWritePaths": str(store), "StateDirectory": "wheelyard",
                      "AmbientCapabilities": ""}

        def check(config: Path, **changed: str) -> subprocess.CompletedProcess:
            shown = properties | {"ExecStart": f"{{ path=/usr/bin/wheelyard-registry ; argv[]=/usr/bin/wheelyard-registry serve --config {config} ; }}"}
            systemctl = self.folder / "systemctl"
            systemctl.write_text("#!/bin/sh\ncat <<'END'\n" + "".join(f"{key}={value}\n" for key, value in (shown | changed).items()) + "END\n")
            systemctl.chmod(0o755)
            return self.serve(config, "--check", path=str(self.folder))
        low = f"127.0.0.1:{privileged_port()}"
        self.assert_ran(check(self.configured(store="srv")))
        self.assert_ran(check(self.configured(store="/var/lib/wheelyard/none")))  # StateDirectory= makes it
        self.assert_failed(check(self.configured(store="srv"), ReadWritePaths=""), f"ReadWritePaths={store}")
        self.assert_failed(check(self.configured(store="new"), ReadWritePaths=str(self.folder)), f"install -d -o nobody -m 711 {self.folder}/new")
        self.assert_failed(check(self.configured(store="srv", listen=low)), "CAP_NET_BIND_SERVICE")
        self.assert_ran(check(self.configured(store="srv", listen=low), AmbientCapabilities="cap_net_bind_service"))
        self.assert_ran(check(self.configured(store="new"), ExecStart="{ argv[]=wheelyard-registry serve --config /etc/other.toml ; }"),
                        f"install -d -o USER -m 711 {self.folder}/new")

    @unittest.skipUnless(shutil.which("systemd-analyze"), "systemd is not installed")
    def test_systemd_knows_every_line_of_the_unit(self):
        unit = self.folder / UNIT.name
        unit.write_text(re.sub(r"(?m)^Documentation=.*\n", "", UNIT.read_text()).replace("/usr/local/bin/wheelyard-registry", "/bin/true"))
        done = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S)
        self.assertEqual((done.returncode, [line for line in done.stderr.splitlines() if UNIT.name in line]), (0, []))
        for line in ("Type=notify", "RestartPreventExitStatus=2"):
            self.assertIn(line + "\n", unit.read_text())


if __name__ == "__main__":
    main()
